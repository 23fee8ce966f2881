import { newId } from "../../core/ids.ts";
import { localNotify } from "../../core/notify.ts";
import type { Clock, Log, Notify } from "../../core/ports.ts";
import type { Queries } from "../../db/client.ts";
import type { Target } from "../../db/pool/connection.ts";
import { listenTo } from "./listening.ts";
import { fromPayload } from "./messages.ts";
import { createSending } from "./sending.ts";

interface Options {
  target: Target;
  /** For sending; listening uses a connection outside its pool. */
  database: Queries;
  clock: Clock;
  log: Log;
}

const channel = "agent_engine";

/**
 * Notifies this process and, by LISTEN and NOTIFY, all others on the same database. Connects in the background: while
 * the database is away, messages stay in this process. When messages of other replicas may have been missed, a gap is
 * reported, even before the first connection. Behind a transaction pooler nothing is received, which is logged.
 */
export function postgresNotify({ target, database, clock, log }: Options): Notify {
  const from = newId();
  const local = localNotify(log);
  const sending = createSending({ channel, from, database, clock, log });
  const listening = listenTo(target, channel, {
    clock,
    log,
    beat: sending.beat,
    onListening: local.gap,
    onPayload(payload) {
      const batch = fromPayload(payload);
      if (batch?.from === from) return listening.heard();
      if (batch?.gap) local.gap();
      for (const [topic, key] of batch?.entries ?? []) local.publish(topic, key);
    },
  });
  return {
    publish(topic, key) {
      local.publish(topic, key);
      sending.add(topic, key);
    },
    listen: local.listen,
    isHearing: listening.isHearing,
    async close() {
      listening.close();
      await sending.close();
    },
  };
}
