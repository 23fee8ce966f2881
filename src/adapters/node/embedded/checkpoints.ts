import type { Clock } from "../../../core/ports.ts";
import { simpleQuery } from "./messages.ts";

/** How long after some work the log is checked next, in milliseconds. */
const lookAfterMs = 10_000;

/** The largest log, in bytes, that a start after a crash should read. */
const mostBytes = 32 * 1024 * 1024;

const query = `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn)::bigint from pg_control_checkpoint()`;

/** Sends messages of PostgreSQL's protocol to the only session; returns the whole answer. */
export type Exchange = (messages: Uint8Array) => Uint8Array<ArrayBuffer>;

/**
 * Adds checkpoints between the calls of an exchange. A database in a single process makes none until it ends, so its
 * log would grow all the time. Does nothing while the database is idle.
 */
export function withCheckpoints(exchange: Exchange, clock: Clock): Exchange {
  let planned = false;
  let idle = true;
  const plan = () => {
    if (planned) return;
    planned = true;
    clock.after(lookAfterMs, look);
  };
  const look = () => {
    planned = false;
    // The session is in use: the client has an open transaction, or has sent a part of its messages.
    if (!idle) return plan();
    if (firstNumber(exchange(simpleQuery(query))) > mostBytes) exchange(simpleQuery("checkpoint"));
  };
  return (messages) => {
    const answer = exchange(messages);
    idle = endsIdle(answer);
    plan();
    return answer;
  };
}

/** Whether an answer ends with `ReadyForQuery` outside a transaction. */
const endsIdle = (answer: Uint8Array) => answer.at(-6) === 0x5a && answer.at(-1) === 0x49;

/** The first value of the first row; 0 without rows. */
function firstNumber(answer: Uint8Array): number {
  const bytes = Buffer.from(answer.buffer, answer.byteOffset, answer.length);
  for (let at = 0; at < bytes.length; at += 1 + bytes.readInt32BE(at + 1)) {
    if (bytes[at] !== 0x44) continue;
    const start = at + 11;
    return Number(bytes.toString("latin1", start, start + bytes.readInt32BE(at + 7)));
  }
  return 0;
}
