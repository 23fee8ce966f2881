import { EngineError } from "../core/errors.ts";
import type { Clock } from "../core/ports.ts";
import { type Connection, openConnection, type Parameter, type Rows, type Shape, type Target } from "./connection.ts";
import { isBroken, toCallersError, tooLate } from "./failures.ts";
import { Reach } from "./reach.ts";
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
}

export interface Pool {
  run: Run;
  use(): PoolUse;
  /** Whether the last statements reached a database that answers and takes writes. Sends no statement. */
  isUsable(): boolean;
  /** Reserves a connection until the caller releases it. */
  reserve(): Promise<ReservedConnection>;
  close(): Promise<void>;
}

/** After a statement waited this long without any other answer, the server is probed. */
const doubtMs = 2_000;

/** No statement is sent behind one that has run longer than this. */
const slowMs = 50;

/**
 * How many brief statements share a connection before the next one is used. A busy server process has its plans and
 * pages in its cache, so a turn costs PostgreSQL a fifth less than with one connection for each statement. Answers that
 * arrive together also cost this process less.
 */
const mostBrief = 4;

/** No brief statement is sent behind one that has run longer than this while another connection is available. */
const lateMs = 5;

interface Slot {
  connection: Connection;
  /** Functions that reject the running statements. */
  running: Set<(error: unknown) => void>;
  /** The number of running statements that are not brief. */
  lengthy: number;
  /** When the server began the oldest running statement. */
  busySince: number;
  /**
   * Whether the connection has answered. It gets no second statement before, since a driver that can't connect never
   * settles it.
   */
  ready: boolean;
  reserved: boolean;
  gone: boolean;
}

const lost = () => new EngineError("unavailable", "The connection to the database was lost");

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
  /** When the server last answered a statement. */
  let answeredAt = Number.NEGATIVE_INFINITY;

  const usable = new Usable();

  const failWaiting = (error: EngineError) => {
    for (const waiter of waiting.splice(0)) waiter.fail(error);
  };
  const onDown = () => {
    usable.silent();
    failWaiting(tooLate());
  };
  /** Null for the embedded database, which serves one connection at a time and needs no probe. */
  const reach = "url" in target ? new Reach(target, { clock, onDown }) : null;

  const open = (): Slot => {
    const statementTimeoutMs = Math.ceil(deadlineMs * 0.9);
    const slot: Slot = {
      connection: openConnection(target, { prepare, statementTimeoutMs, onClose: () => drop(slot, lost()) }),
      running: new Set(),
      lengthy: 0,
      busySince: 0,
      ready: false,
      reserved: false,
      gone: false,
    };
    slots.push(slot);
    return slot;
  };

  /** Closes a connection, and rejects its running statements with `error`. */
  const drop = (slot: Slot, error: unknown) => {
    if (slot.gone) return;
    slot.gone = true;
    slots.splice(slots.indexOf(slot), 1);
    slot.connection.destroy();
    for (const fail of [...slot.running]) fail(error);
    serve();
  };

  /**
   * Picks a connection: for a brief statement one with few brief statements, else an idle one, a new one, or the one
   * with the fewest statements; null when the caller has to wait.
   */
  const pick = (brief: boolean): Slot | null => {
    const now = clock.now();
    let best: Slot | null = null;
    for (const slot of slots) {
      if (slot.reserved || !slot.ready) continue;
      if (slot.running.size === 0) return slot;
      // Statements behind a blocked one would wait as long.
      const busyMs = now - slot.busySince;
      if (busyMs > slowMs) continue;
      if (brief && slot.lengthy === 0 && slot.running.size < mostBrief && busyMs <= lateMs) return slot;
      if (!best || slot.running.size < best.running.size) best = slot;
    }
    return slots.length < max ? open() : best;
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
        if (waiting.length > 0) serve();
      };
      const fail = (error: unknown) => {
        settle();
        reject(error);
      };
      const sentAt = clock.now();
      const dropLate = () => {
        reach?.doubt();
        usable.silent();
        drop(slot, tooLate());
      };
      let cancel = clock.after(Math.min(doubtMs, deadlineMs), () => {
        if (deadlineMs <= doubtMs) return dropLate();
        if (answeredAt <= sentAt) reach?.doubt();
        cancel = clock.after(deadlineMs - doubtMs, dropLate);
      });
      if (slot.running.size === 0) slot.busySince = clock.now();
      slot.running.add(fail);
      if (!brief) slot.lengthy += 1;
      slot.connection.run(text, parameters, shape).then(
        (rows) => {
          heard();
          usable.worked(text);
          settle();
          resolve(rows);
        },
        (error: unknown) => {
          usable.failed(error);
          // `drop` runs before the caller or a waiter can send the next statement into the broken connection.
          if (isBroken(error)) return drop(slot, toCallersError(error));
          heard();
          fail(toCallersError(error));
        },
      );
    });

  const heard = () => {
    answeredAt = clock.now();
    reach?.answered();
  };

  const reserved = (slot: Slot): ReservedConnection => ({
    async run(text, parameters, shape) {
      if (slot.gone) throw lost();
      return execute(slot, text, parameters, shape);
    },
    release() {
      slot.reserved = false;
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
    }),
    async close() {
      closed = true;
      failWaiting(new EngineError("unavailable", "The database is closed"));
      await Promise.all(slots.map((slot) => slot.connection.close()));
    },
  };
}
