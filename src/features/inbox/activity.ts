import { sql } from "drizzle-orm";
import type { Services } from "../../context/ctx.ts";
import type { MessengerName } from "../../core/channels/messengers.ts";
import { assign, jsonRows } from "../../db/fragments.ts";
import { unlessDeadlocked } from "../../db/retry.ts";
import { channels } from "../../db/schema.ts";
import { statement } from "../../db/statement.ts";

/** When an agent's channel last received and last sent a message, and its last failure. */
export interface Activity {
  received(agentId: string, name: MessengerName): void;
  /** Notes a sent message; the channel's last failure is over. */
  sent(agentId: string, name: MessengerName): void;
  /** Notes a failure. `isOfAccount`: the messenger refuses the channel's credentials, so the whole channel fails. */
  failed(agentId: string, name: MessengerName, error: string, isOfAccount: boolean): void;
  /** Stores the notes. Call it every 2 seconds. */
  flush(): Promise<void>;
}

interface Notes {
  receivedAt: string | null;
  sentAt: string | null;
  /** Empty: the last failure is over. Null: nothing new. */
  error: string | null;
  isOfAccount: boolean;
}

const nothing: Notes = { receivedAt: null, sentAt: null, error: null, isOfAccount: false };

/** Gathers notes in memory, since messages of one channel would otherwise wait for the lock of the channel's row. */
export function createActivity({ database, clock, meters }: Pick<Services, "database" | "clock" | "meters">): Activity {
  const count = meters.counter({
    name: "agent_engine_messenger_traffic_total",
    help: "Deliveries of messengers that brought messages (received), parts of replies that left (sent), and calls of messengers that failed.",
    labels: ["channel", "what"],
  });
  const noted = new Map<string, { agentId: string; type: MessengerName } & Notes>();
  const note = (agentId: string, type: MessengerName, what: "received" | "sent" | "failed", news: Partial<Notes>) => {
    count({ channel: type, what });
    const key = `${agentId}:${type}`;
    noted.set(key, { ...(noted.get(key) ?? nothing), ...news, agentId, type });
  };
  const at = () => new Date(clock.now()).toISOString();
  return {
    received: (agentId, name) => note(agentId, name, "received", { receivedAt: at() }),
    sent: (agentId, name) => note(agentId, name, "sent", { sentAt: at(), error: "", isOfAccount: false }),
    failed: (agentId, name, error, isOfAccount) => note(agentId, name, "failed", { error, isOfAccount }),
    async flush() {
      if (noted.size === 0) return;
      const news = JSON.stringify([...noted.values()]);
      noted.clear();
      const now = new Date(clock.now());
      await unlessDeadlocked(() => noteStatement.run(database, { news, now }));
    },
  };
}

const newsShape = {
  agentId: "uuid",
  type: "text",
  receivedAt: channels.lastReceivedAt,
  sentAt: channels.lastSentAt,
  error: channels.lastError,
  isOfAccount: "boolean",
} as const;

/**
 * Keeps a later time that another process stored. The error of a channel that could not start stays until the channel
 * starts, since a sent reply does not fix it.
 */
const noteStatement = statement({ news: "jsonb", now: "timestamptz" }, ({ news, now }) => {
  const { table, row } = jsonRows(news, "noted", newsShape);
  const { agentId, type, lastReceivedAt, lastSentAt, lastError, errorSince, status } = channels;
  const isTold = sql`${row.error} is not null and ${status} = 'running'`;
  return sql<never>`
    update ${channels} set ${assign(channels, {
      lastReceivedAt: sql`greatest(${lastReceivedAt}, ${row.receivedAt})`,
      lastSentAt: sql`greatest(${lastSentAt}, ${row.sentAt})`,
      lastError: sql`case when ${isTold} then nullif(${row.error}, '') else ${lastError} end`,
      errorSince: sql`case when not (${isTold}) then ${errorSince}
        when ${row.error} <> '' then coalesce(${errorSince}, ${now}) end`,
      status: sql`case when ${isTold} and ${row.isOfAccount} then 'failing' else ${status} end`,
    })} from ${table} where ${agentId} = ${row.agentId} and ${type} = ${row.type}`;
});
