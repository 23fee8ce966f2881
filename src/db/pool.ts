import { EngineError } from "../core/errors.ts";
import type { Clock } from "../core/ports.ts";
import { type Connection, openConnection, type Parameter, type Rows, type Shape, type Target } from "./connection.ts";
import { isBroken, toCallersError, tooLate } from "./failures.ts";

export interface PoolOptions {
  /** Connections to hold; exactly 1 for the embedded database. */
  max: number;
  /** Named statements: saves parsing. Off behind a transaction pooler. */
  prepare: boolean;
  /** Deadline of a statement in milliseconds, and of waiting for a connection. */
  deadlineMs: number;
  clock: Clock;
}

export type Run = (text: string, parameters: readonly Parameter[], shape: Shape) => Promise<Rows>;

export interface Pool {
  run: Run;
  /** One connection for the caller alone until it is released. */
  reserve(): Promise<Reserved>;
  close(): Promise<void>;
}

/** A statement that takes longer gets none sent behind it. */
const slowMs = 50;

interface Slot {
  connection: Connection;
  /** How to fail the statements that are on their way. */
  running: Set<(error: unknown) => void>;
  /** Since when the first of them has the server to itself. */
  busySince: number;
  /** It answered once: until then it gets no second statement, which the driver would keep if it can't connect. */
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

/** A connection of the caller's own. */
export interface Reserved {
  run: Run;
  release(): void;
}

/**
 * Connections that single statements share (they are sent without waiting for each other's answers) and transactions
 * have for themselves. A statement that passes its deadline costs its connection and no other: the server may hang,
 * and `connect_timeout` does not help then.
 */
export function openPool(target: Target, { max, prepare, deadlineMs, clock }: PoolOptions): Pool {
  const slots: Slot[] = [];
  const waiting: Waiter[] = [];
  let closed = false;

  const open = (): Slot => {
    const statementTimeoutMs = Math.ceil(deadlineMs * 0.9);
    const slot: Slot = {
      connection: openConnection(target, { prepare, statementTimeoutMs, onClose: () => drop(slot, lost()) }),
      running: new Set(),
      busySince: 0,
      ready: false,
      reserved: false,
      gone: false,
    };
    slots.push(slot);
    return slot;
  };

  /** Gives the connection up, and with it all that it was doing. */
  const drop = (slot: Slot, error: unknown) => {
    if (slot.gone) return;
    slot.gone = true;
    slots.splice(slots.indexOf(slot), 1);
    slot.connection.destroy();
    for (const fail of [...slot.running]) fail(error);
    serve();
  };

  /** An idle connection, a new one, or the one with the least to do; null when there is nothing but to wait. */
  const pick = (): Slot | null => {
    const now = clock.now();
    let best: Slot | null = null;
    for (const slot of slots) {
      if (slot.reserved || !slot.ready) continue;
      if (slot.running.size === 0) return slot;
      // Behind a statement that waits for a lock, others would share its fate.
      if (now - slot.busySince > slowMs) continue;
      if (!best || slot.running.size < best.running.size) best = slot;
    }
    return slots.length < max ? open() : best;
  };

  const serve = () => {
    for (let waiter = waiting[0]; waiter && !closed; waiter = waiting[0]) {
      const slot = pick();
      if (!slot) return;
      waiting.shift();
      slot.reserved = waiter.reserve;
      waiter.take(slot);
    }
  };

  /** Gives `use` a connection as soon as there is one. It runs at once with it: nothing can come in between. */
  const acquire = async <T>(reserve: boolean, use: (slot: Slot) => T | Promise<T>): Promise<T> => {
    if (closed) throw new EngineError("unavailable", "The database is closed");
    const slot = pick();
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

  const execute = (slot: Slot, text: string, parameters: readonly Parameter[], shape: Shape): Promise<Rows> =>
    new Promise((resolve, reject) => {
      const settle = () => {
        cancel();
        slot.running.delete(fail);
        slot.busySince = clock.now();
        slot.ready = true;
        if (waiting.length > 0) serve();
      };
      const fail = (error: unknown) => {
        settle();
        reject(error);
      };
      const cancel = clock.after(deadlineMs, () => drop(slot, tooLate()));
      if (slot.running.size === 0) slot.busySince = clock.now();
      slot.running.add(fail);
      slot.connection.run(text, parameters, shape).then(
        (rows) => {
          settle();
          resolve(rows);
        },
        (error: unknown) => {
          // Before the caller, or one who waits, can send the next statement into it.
          if (isBroken(error)) drop(slot, toCallersError(error));
          else fail(toCallersError(error));
        },
      );
    });

  const reserved = (slot: Slot): Reserved => ({
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
    run: (text, parameters, shape) => acquire(false, (slot) => execute(slot, text, parameters, shape)),
    reserve: () => acquire(true, reserved),
    async close() {
      closed = true;
      for (const waiter of waiting.splice(0)) waiter.fail(new EngineError("unavailable", "The database is closed"));
      await Promise.all(slots.map((slot) => slot.connection.close()));
    },
  };
}
