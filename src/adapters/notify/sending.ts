import type { Clock, Log } from "../../core/ports.ts";
import { writeArray } from "../../db/arrays.ts";
import type { Queries } from "../../db/client.ts";
import { toBeat, toPayloads } from "./messages.ts";
import { createOutage } from "./outage.ts";

export interface Sending {
  /** Sends the entry together with all other entries of the next 20 ms, each once. Never throws. */
  add(topic: string, key: string): void;
  /** Sends a batch without entries at once, which tells this process that it hears itself. */
  beat(): Promise<void>;
  /** Sends the waiting entries, but for a second at most, and accepts no more. */
  close(): Promise<void>;
}

interface Options {
  channel: string;
  /** The id of this process. */
  from: string;
  database: Queries;
  clock: Clock;
  log: Log;
}

const gatherMs = 20;
const retryMs = 1_000;
const closeMs = 1_000;
/** Beyond this number the waiting entries become a gap. */
const mostWaiting = 10_000;

const statement = "select pg_notify($1, payload) from unnest($2::text[]) as payload";

/** Sends to a channel in batches, one at a time. A failed batch becomes a gap, which is sent to the others later. */
export function createSending({ channel, from, database, clock, log }: Options): Sending {
  const outage = createOutage(log, {
    began: "Other replicas can't be told of changes: they notice them later",
    over: "Other replicas are told of changes again",
  });
  const waiting = new Map<string, readonly [topic: string, key: string]>();
  let gap = false;
  let closed = false;
  let sending: Promise<void> | null = null;
  let cancelTimer: (() => void) | null = null;

  const plan = (ms: number) => {
    if (closed || sending || (waiting.size === 0 && !gap)) return;
    cancelTimer ??= clock.after(ms, () => {
      cancelTimer = null;
      void send();
    });
  };

  const send = () => {
    const payloads = toPayloads({ from, entries: [...waiting.values()], gap });
    waiting.clear();
    gap = false;
    sending = database.query(statement, [channel, writeArray(payloads)]).then(outage.worked, (err: unknown) => {
      gap = true;
      outage.failed(err);
    });
    return sending.finally(() => {
      sending = null;
      plan(gap ? retryMs : gatherMs);
    });
  };

  const sendRest = async () => {
    await sending;
    if (waiting.size > 0) await send();
  };

  return {
    beat: async () => void (await database.query(statement, [channel, writeArray([toBeat(from)])])),
    add(topic, key) {
      if (closed) return;
      if (waiting.size >= mostWaiting) {
        waiting.clear();
        gap = true;
      }
      const entry = [topic, key] as const;
      waiting.set(JSON.stringify(entry), entry);
      plan(gatherMs);
    },
    async close() {
      closed = true;
      cancelTimer?.();
      const late = Promise.withResolvers<void>();
      const cancel = clock.after(closeMs, () => {
        waiting.clear();
        late.resolve();
      });
      await Promise.race([sendRest(), late.promise]);
      cancel();
    },
  };
}
