import { type Column, type SQL, sql, type Table } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Database } from "../../../db/client.ts";
import { column, fields, jsonLists, type ListsOf, type RowOf, rowsOf } from "../../../db/fragments.ts";
import { conversations, messages } from "../../../db/schema.ts";
import { statement, type Values } from "../../../db/statement.ts";
import type { JsonObject, ModelMessage } from "../../../turn/types.ts";
import type { PromptRoom } from "../budget/estimate.ts";

/**
 * The size limit of a history, besides the agent's `historyLimit`: as many of the newest messages as fit. It is more
 * than models accept, and far less than 1000 long messages.
 */
export const historyBytes = 2 * 1024 * 1024;

/** The part of a conversation that a turn reads once it has its slot. */
export interface Transcript {
  history: StoredMessage[];
  /** The size of the history in bytes. */
  historyBytes: number;
  state: JsonObject;
  /** Whether the conversation has no messages yet. */
  begins: boolean;
}

/** The transcript of a turn without a stored conversation. */
export const noTranscript: Transcript = { history: [], historyBytes: 0, state: {}, begins: true };

/** The bytes per token without a provider's count: fewer than most texts have. */
const usualBytesPerToken = 3;

/** The values of a statement that reads a history. */
export const historyTypes = { historyLimit: "int", window: "int", takenBytes: "int", seesCalls: "boolean" } as const;

/** A table with the one conversation to read. */
type OneConversation = Table & Record<"id" | "bytesPerToken", Column>;

const m = alias(messages, "m");

const storedMessages = jsonLists({
  turnId: m.turnId,
  seq: m.seq,
  role: m.role,
  content: m.content,
  /** The provider's own messages; null when the model gets only the text. */
  modelMessages: sql<ModelMessage[] | null>`case when whole then ${m.modelMessages} end`,
  /** The size of the text for the model. */
  bytes: sql<number>`case when whole then whole_bytes else octet_length(${m.content}) end`,
});

/** The messages, newest first. */
export type StoredMessages = RowOf<typeof storedMessages>;

export type StoredMessage = StoredMessages extends ListsOf<infer Row> ? Row : never;

/** How many bytes of history fit into a prompt, estimated from the tokens of the last prompt. */
export function historyRoom({ bytesPerToken }: OneConversation, { window, takenBytes }: Values<typeof historyTypes>) {
  const perToken = sql`coalesce(${bytesPerToken}, ${usualBytesPerToken})`;
  return sql<number>`greatest(0, least(${historyBytes}, ${window} * ${perToken} - ${takenBytes}))`;
}

/**
 * One row with the newest messages of a conversation: those that `fitting` selects and the one before them; no row
 * unless `when`. If the tool calls of a reply, together with all newer messages, take more than three quarters of the
 * room, this reply and all older ones are reduced to their texts: one long result must not fill the whole history.
 * First counts the tool calls by their stored size, which needs no unpacking of JSON, then counts only those exactly
 * that fit by this size. (PostgreSQL has no length of JSON; joining it with an empty list unpacks it, and does nothing
 * else.)
 */
export function newestMessages(of: OneConversation, values: Values<typeof historyTypes>, when = sql`true`): SQL {
  const room = historyRoom(of, values);
  const upToHere = sql`over (order by ${m.seq} desc rows unbounded preceding)`;
  const size = (calls: SQL) => sql`octet_length(${m.content}) + coalesce(pg_column_size(${calls}), 0)`;
  const newest = sql`
    select ${messages.turnId}, ${messages.seq}, ${messages.role}, ${messages.content},
      case when ${values.seesCalls} then ${messages.modelMessages} end as ${column(messages.modelMessages)}
    from ${messages} where ${messages.conversationId} = ${of.id} and ${when}
    order by ${messages.seq} desc limit ${values.historyLimit}`;
  const measured = sql`
    select ${m}.*, sum(octet_length(${m.content})) ${upToHere} as texts,
      case when sum(${size(sql`${m.modelMessages}`)}) ${upToHere} <= ${historyBytes}
        then ${size(sql`${m.modelMessages} || '[]'`)} end as whole_bytes
    from (${newest}) ${m}`;
  return sql`
    select ${storedMessages} as messages
    from (
      select ${m}.*, whole_bytes is not null and sum(whole_bytes) ${upToHere} <= ${room} * 0.75 as whole
      from (${measured}) ${m} order by ${m.seq} desc
    ) ${m} where texts - octet_length(${m.content}) <= ${room}`;
}

/** The newest messages that fit into the room, oldest first, and their size. */
export function fitting(found: StoredMessages, room: number): Pick<Transcript, "history" | "historyBytes"> {
  const history: StoredMessage[] = [];
  let taken = 0;
  for (const message of rowsOf(found)) {
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
    found: sql<StoredMessages>`history.messages`,
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
  if (!transcript) return noTranscript;
  const { found, room: bytes, ...known } = transcript;
  return { ...known, ...fitting(found, bytes) };
}
