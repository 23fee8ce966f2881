import { type Column, type SQL, sql, type Table } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Database } from "../../../db/client.ts";
import { column, fields, jsonObject, type RowOf } from "../../../db/fragments.ts";
import { conversations, messages } from "../../../db/schema.ts";
import { statement, type Values } from "../../../db/statement.ts";
import type { JsonObject, ModelMessage } from "../../../turn/types.ts";
import type { PromptRoom } from "../budget/estimate.ts";

/**
 * What the model sees of a conversation at most, beside the agent's `historyLimit`: the newest messages that fit, none
 * when already the newest is larger. It is more than models take in, and far less than 1000 long messages are.
 */
export const historyBytes = 2 * 1024 * 1024;

/** The part of a conversation that a turn reads when its place has come. */
export interface Transcript {
  history: StoredMessage[];
  /** The size of the history in bytes. */
  historyBytes: number;
  state: JsonObject;
  /** Whether the conversation has no messages yet. */
  begins: boolean;
}

/** The assumption for a conversation without a provider's count: fewer bytes a token than most texts have. */
const usualBytesPerToken = 3;

/** The values of a statement that reads a history. */
export const historyTypes = { historyLimit: "int", window: "int", takenBytes: "int", seesCalls: "boolean" } as const;

/** A table of the one conversation that is read. */
type OneConversation = Table & Record<"id" | "bytesPerToken", Column>;

const m = alias(messages, "m");

const storedMessage = jsonObject({
  turnId: m.turnId,
  seq: m.seq,
  role: m.role,
  content: m.content,
  /** The provider's own messages; null where the model gets the text alone. */
  modelMessages: sql<ModelMessage[] | null>`case when whole then ${m.modelMessages} end`,
  /** The size of what the model gets. */
  bytes: sql<number>`case when whole then whole_bytes else octet_length(${m.content}) end`,
});

export type StoredMessage = RowOf<typeof storedMessage>;

/** The bytes that a prompt has room for, told by the tokens that the last one was. */
export function historyRoom({ bytesPerToken }: OneConversation, { window, takenBytes }: Values<typeof historyTypes>) {
  const perToken = sql`coalesce(${bytesPerToken}, ${usualBytesPerToken})`;
  return sql<number>`least(${historyBytes}, ${window} * ${perToken} - ${takenBytes})`;
}

/**
 * A row with the newest messages of a conversation, at least as many as `fitting` leaves, and the number of the newest
 * one; both are null when there is none, or not `when`. Where the calls of a reply take more than three quarters of the
 * room together with what is newer, it and those before it are its text alone: one long result must not be all that the
 * model remembers.
 *
 * First the calls are counted as they are stored, which unpacks no JSON; only what fits by that count is worth looking
 * at more closely. (JSON has no length that PostgreSQL would tell: joined with an empty list it is unpacked, and nothing
 * else.)
 */
export function newestMessages(of: OneConversation, values: Values<typeof historyTypes>, when = sql`true`): SQL {
  const calls = sql`case when ${values.seesCalls} then ${messages.modelMessages} end`;
  const fromNewest = ({ seq }: { seq: Column }) => sql`over (order by ${seq} desc rows unbounded preceding)`;
  const packed = sql`
    select ${messages.turnId}, ${messages.seq}, ${messages.role}, ${messages.content},
      ${calls} as ${column(messages.modelMessages)},
      sum(octet_length(${messages.content}) + coalesce(pg_column_size(${calls}), 0)) ${fromNewest(messages)} as packed
    from ${messages} where ${messages.conversationId} = ${of.id} and ${when}
    order by ${messages.seq} desc limit ${values.historyLimit}`;
  const unpacked = sql`
    select ${m}.*, case when packed <= ${historyBytes}
      then octet_length(${m.content}) + coalesce(pg_column_size(${m.modelMessages} || '[]'), 0) end as whole_bytes
    from (${packed}) ${m}`;
  const room = historyRoom(of, values);
  return sql`
    select json_agg(${storedMessage}) filter (where texts <= ${room}) as messages, max(${m.seq}) as newest
    from (
      select ${m}.*, sum(octet_length(${m.content})) ${fromNewest(m)} as texts,
        packed <= ${historyBytes} and sum(whole_bytes) ${fromNewest(m)} <= ${room} * 0.75 as whole
      from (${unpacked}) ${m}
    ) ${m}`;
}

/** The newest of these messages that the room holds, oldest first, and their size. */
export function fitting(found: readonly StoredMessage[], room: number): Pick<Transcript, "history" | "historyBytes"> {
  const newestFirst = found.toSorted((a, b) => b.seq - a.seq);
  const history: StoredMessage[] = [];
  let taken = 0;
  for (const message of newestFirst) {
    if (taken + message.bytes > room) break;
    taken += message.bytes;
    history.push(message);
  }
  return { history: history.reverse(), historyBytes: taken };
}

const transcriptStatement = statement({ conversationId: "uuid", ...historyTypes }, ({ conversationId, ...values }) => {
  const row = fields({
    state: sql<JsonObject>`${conversations.state}`,
    begins: sql<boolean>`${conversations.lastSeq} = 0`,
    found: sql<StoredMessage[]>`coalesce(history.messages, '[]')`,
    room: historyRoom(conversations, values),
  });
  return sql<RowOf<typeof row>>`
    select ${row} from ${conversations}, lateral (${newestMessages(conversations, values)}) history
    where ${conversations.id} = ${conversationId}`;
});

/** Reads the state of a conversation and its last messages within the limits, oldest first. */
export async function readConversation(
  database: Database,
  conversationId: string,
  { historyLimit, room: { window, takenBytes, calls } }: { historyLimit: number; room: PromptRoom },
): Promise<Transcript> {
  const values = { conversationId, historyLimit, window, takenBytes, seesCalls: calls };
  const [transcript] = await transcriptStatement.run(database, values);
  if (!transcript) return { history: [], historyBytes: 0, state: {}, begins: true };
  const { found, room: bytes, ...known } = transcript;
  return { ...known, ...fitting(found, bytes) };
}
