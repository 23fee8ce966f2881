import { EngineError } from "../../core/errors.ts";
import type { Clock } from "../../core/ports.ts";
import type { Parameter, Rows, Shape, Target } from "./connection.ts";
import { isBroken, isReadOnly, toCallersError, tooLate } from "./failures.ts";
import { openConnection } from "./open-connection.ts";
import { Reach } from "./reach.ts";
import { leastBusy, type Slot, withRoom } from "./slots.ts";
import { Usable } from "./usable.ts";

export interface PoolOptions {
  /** The most connections; exactly 1 for the embedded database. */
  max: number;
  /** Whether statements are named, which saves parsing. Must be false behind a transaction pooler. */
  prepare: boolean;
  /** The deadline of a statement, and of waiting for a connection, in milliseconds. */
  deadlineMs: number;
  clock: Clock;
}

/**
 * Runs a statement. `brief`: the server answers within about a millisecond and waits for no long lock, so the statement
 * may be sent behind other brief ones even while connections are idle.
 */
export type Run = (text: string, parameters: readonly Parameter[], shape: Shape, brief?: boolean) => Promise<Rows>;

/** The current use of a pool. */
export interface PoolUse {
  /** Open connections. */
  open: number;
  /** Connections with a running statement or transaction. */
  busy: number;
  /** Statements and transactions that wait for a connection. */
  waiting: number;
  /** Lost connections since the start, by cause. */
  lost: Readonly<Record<Cause, number>>;
}

/**
 * The connection was closed from outside, its statement passed the deadline, the server did not answer or did not know
 * its session, or the server takes no writes.
 */
type Cause = "closed" | "late" | "silent" | "read_only";

export interface Pool {
  run: Run;
  use(): PoolUse;
  /** Whether the last statements reached a database that answers and takes writes. Sends no statement. */
  isUsable(): boolean;
  /** Reserves a connection until the caller releases it. */
  reserve(): Promise<ReservedConnection>;
  close(): Promise<void>;
}

/** Each time a statement has waited this long, the server is asked whether it knows the session. */
const doubtMs = 1_500;

/** How long an answer may be under way after the server finished its statement, in milliseconds. */
const lateAnswerMs = 200;

/** A connection is replaced after about this time, so that a name that leads elsewhere meanwhile is followed. */
const lifetimeMs = 30 * 60_000;

const connectionLost = () => new EngineError("unavailable", "The connection to the database was lost");

interface Waiter {
  reserve: boolean;
  take(slot: Slot): void;
  fail(error: EngineError): void;
}

/** A connection reserved for one caller. */
interface ReservedConnection {
  run: Run;
  release(): void;
}

/**
 * Opens a pool. Single statements share its connections and are sent without waiting for each other's answers; a
 * transaction reserves a connection. A statement that passes its deadline closes only its own connection: the server
 * may hang, which `connect_timeout` does not notice.
 */
export function openPool(target: Target, { max, prepare, deadlineMs, clock }: PoolOptions): Pool {
  const slots: Slot[] = [];
  const waiting: Waiter[] = [];
  let closed = false;
  const lost: Record<Cause, number> = { closed: 0, late: 0, silent: 0, read_only: 0 };

  const usable = new Usable();

  const failWaiting = (error: EngineError) => {
    for (const waiter of waiting.splice(0)) waiter.fail(error);
  };
  const onSilent = (since: number) => {
    usable.silent();
    failWaiting(tooLate());
    // A pooler lets a probe wait while all its connections work.
    if ("url" in target && target.pooled) return;
    for (const slot of slots.filter(({ answeredAt }) => answeredAt < since)) drop(slot, tooLate(), "silent");
  };
  const onLost = (sessions: readonly string[], since: number) => {
    if (sessions.length === 0) return;
    // An answer may be on its way.
    clock.after(lateAnswerMs, () => {
      const isLost = ({ connection, answeredAt }: Slot) =>
        answeredAt < since && sessions.includes(connection.session() ?? "");
      for (const slot of slots.filter(isLost)) leave(slot, connectionLost(), "silent");
    });
  };
  const sessions = () => {
    const waiting = slots.filter(({ running, busySince }) => running.size > 0 && clock.now() - busySince >= doubtMs);
    return waiting.flatMap(({ connection }) => connection.session() || []);
  };
  /** Null for the embedded database, which serves one connection at a time and needs no probe. */
  const reach = "url" in target ? new Reach(target, { clock, sessions, onLost, onSilent }) : null;

  const open = (): Slot => {
    const statementTimeoutMs = Math.ceil(deadlineMs * 0.9);
    const onClose = () => drop(slot, connectionLost(), "closed");
    const slot: Slot = {
      connection: openConnection(target, { prepare, clock, statementTimeoutMs, onClose }),
      running: new Set(),
      lengthy: 0,
      busySince: 0,
      ready: false,
      reserved: false,
      retired: false,
      answeredAt: clock.now(),
      // Not all at once, as they may have been opened.
      cancelLifetime: reach ? clock.after(lifetimeMs * (0.9 + 0.2 * Math.random()), () => retire(slot)) : () => {},
      gone: false,
    };
    slots.push(slot);
    return slot;
  };

  /** Closes a connection, and rejects its running statements with `error`. Without a cause it is not counted as lost. */
  const drop = (slot: Slot, error: unknown, cause?: Cause) => {
    if (slot.gone) return;
    slot.gone = true;
    slot.cancelLifetime();
    if (cause) lost[cause] += 1;
    slots.splice(slots.indexOf(slot), 1);
    slot.connection.destroy();
    for (const fail of [...slot.running]) fail(error);
    serve();
  };

  const retire = (slot: Slot) => {
    slot.retired = true;
    if (slot.running.size === 0 && !slot.reserved) drop(slot, connectionLost());
  };

  /** Drops a connection whose server may be the wrong one: no other of the open connections is used again either. */
  const leave = (dropped: Slot, error: unknown, cause: Cause) => {
    for (const slot of slots.filter((one) => one !== dropped)) retire(slot);
    drop(dropped, error, cause);
  };

  const pick = (brief: boolean): Slot | null => {
    const now = clock.now();
    return withRoom(slots, brief, now) ?? (slots.length < max ? open() : leastBusy(slots, now));
  };

  const serve = () => {
    for (let waiter = waiting[0]; waiter && !closed; waiter = waiting[0]) {
      const slot = pick(false);
      if (!slot) return;
      waiting.shift();
      slot.reserved = waiter.reserve;
      waiter.take(slot);
    }
  };

  /** Waits for a connection, and calls `use` with it at once, so that no other caller takes it in between. */
  const acquire = async <T>({ reserve = false, brief = false }, use: (slot: Slot) => T | Promise<T>): Promise<T> => {
    if (reach?.isDown) await reach.require();
    if (closed) throw new EngineError("unavailable", "The database is closed");
    const slot = pick(brief);
    if (!slot) return wait(reserve, use);
    slot.reserved = reserve;
    return use(slot);
  };

  const wait = <T>(reserve: boolean, use: (slot: Slot) => T | Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      const waiter: Waiter = {
        reserve,
        take(slot) {
          cancel();
          resolve(use(slot));
        },
        fail(error) {
          cancel();
          reject(error);
        },
      };
      const cancel = clock.after(deadlineMs, () => {
        waiting.splice(waiting.indexOf(waiter), 1);
        waiter.fail(tooLate());
      });
      waiting.push(waiter);
    });

  const execute = (slot: Slot, ...[text, parameters, shape, brief = false]: Parameters<Run>): Promise<Rows> =>
    new Promise((resolve, reject) => {
      const settle = () => {
        cancel();
        slot.running.delete(fail);
        if (!brief) slot.lengthy -= 1;
        slot.busySince = clock.now();
        slot.ready = true;
        if (slot.retired) retire(slot);
        if (waiting.length > 0) serve();
      };
      const fail = (error: unknown) => {
        settle();
        reject(error);
      };
      let leftMs = deadlineMs;
      let cancel = () => {};
      const wait = () => {
        const ms = Math.min(doubtMs, leftMs);
        leftMs -= ms;
        cancel = clock.after(ms, () => {
          reach?.doubt();
          if (leftMs > 0) return wait();
          usable.silent();
          drop(slot, tooLate(), "late");
        });
      };
      wait();
      if (slot.running.size === 0) slot.busySince = clock.now();
      slot.running.add(fail);
      if (!brief) slot.lengthy += 1;
      slot.connection.run(text, parameters, shape, !slot.reserved).then(
        (rows) => {
          heard(slot);
          usable.worked(text);
          settle();
          resolve(rows);
        },
        (error: unknown) => {
          usable.failed(error);
          // `drop` runs before the caller or a waiter can send the next statement into the broken connection.
          if (reach && isReadOnly(error)) {
            reach.readOnly();
            return leave(slot, toCallersError(error), "read_only");
          }
          const isLost = isBroken(error) || slot.connection.session() === null;
          if (isLost) return drop(slot, toCallersError(error), "closed");
          heard(slot);
          fail(toCallersError(error));
        },
      );
    });

  const heard = (slot: Slot) => {
    slot.answeredAt = clock.now();
    reach?.answered();
  };

  const reserved = (slot: Slot): ReservedConnection => ({
    async run(text, parameters, shape) {
      if (slot.gone) throw connectionLost();
      return execute(slot, text, parameters, shape);
    },
    release() {
      slot.reserved = false;
      if (slot.retired) retire(slot);
      if (waiting.length > 0) serve();
    },
  });

  return {
    run: (text, parameters, shape, brief = false) =>
      acquire({ brief }, (slot) => execute(slot, text, parameters, shape, brief)),
    reserve: () => acquire({ reserve: true }, reserved),
    isUsable: () => usable.value,
    use: () => ({
      open: slots.length,
      busy: slots.filter((slot) => slot.reserved || slot.running.size > 0).length,
      waiting: waiting.length,
      lost,
    }),
    async close() {
      closed = true;
      for (const slot of slots) slot.cancelLifetime();
      failWaiting(new EngineError("unavailable", "The database is closed"));
      await Promise.all(slots.map((slot) => slot.connection.close()));
    },
  };
}
