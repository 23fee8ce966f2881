import { type Column, type SQL, sql, type Table } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Database } from "../../../db/client.ts";
import { column, fields, jsonObject, only, type RowOf } from "../../../db/fragments.ts";
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
  modelMessages: sql<ModelMessage[] | null>`${m.modelMessages}`,
});

export type StoredMessage = RowOf<typeof storedMessage>;

/**
 * A row with the newest messages of a conversation that fit, oldest first, and the bytes that they take; both are null
 * when there is none, or not `when`. Where the calls of a reply take more than three quarters of the room together with what is newer,
 * it and those before it are its text alone: one long result must not be all that the model remembers.
 *
 * First the calls are counted as they are stored, which unpacks no JSON; only what fits by that count is worth looking
 * at more closely. (JSON has no length that PostgreSQL would tell: joined with an empty list it is unpacked, and nothing
 * else.) How many bytes the prompt has room for is told by the tokens that the last one was.
 */
export function newestMessages(of: OneConversation, values: Values<typeof historyTypes>, when = sql`true`): SQL {
  const calls = sql`case when ${values.seesCalls} then ${messages.modelMessages} end`;
  const fromNewest = ({ seq }: { seq: Column }) => sql`over (order by ${seq} desc rows unbounded preceding)`;
  const packed = sql`
    select ${messages.turnId}, ${messages.seq}, ${messages.role}, ${messages.content},
      ${calls} as ${column(messages.modelMessages)},
      sum(octet_length(${messages.content}) + coalesce(pg_column_size(${calls}), 0)) ${fromNewest(messages)} as packed
    from ${messages} where ${messages.conversationId} = ${only(of.id)}
    order by ${messages.seq} desc limit ${values.historyLimit}`;
  const unpacked = sql`
    select ${m}.*, case when packed <= ${historyBytes}
      then octet_length(${m.content}) + coalesce(pg_column_size(${m.modelMessages} || '[]'), 0) end as whole_bytes
    from (${packed}) ${m}`;
  const bytesPerToken = sql`coalesce(${of.bytesPerToken}, ${usualBytesPerToken})`;
  const room = sql`
    select least(${historyBytes}, ${values.window} * ${bytesPerToken} - ${values.takenBytes}) as room from ${of}`;
  const fits = sql`sum(whole_bytes) ${fromNewest(m)} <= room * 0.75 and packed <= ${historyBytes}`;
  return sql`
    select json_agg(${storedMessage} order by ${m.seq}) as messages, max(bytes)::int as bytes
    from (
      select ${m.turnId}, ${m.seq}, ${m.role}, ${m.content},
        case when whole then ${m.modelMessages} end as ${column(m.modelMessages)}, room,
        sum(case when whole then whole_bytes else octet_length(${m.content}) end) ${fromNewest(m)} as bytes
      from (select ${m}.*, room, coalesce(${fits}, false) as whole from (${unpacked}) ${m}, (${room}) r) ${m}
    ) ${m}
    where bytes <= room and ${when}`;
}

const transcriptStatement = statement({ conversationId: "uuid", ...historyTypes }, ({ conversationId, ...values }) => {
  const one = alias(conversations, "one");
  const { id, state, lastSeq, bytesPerToken } = conversations;
  const row = fields({
    state: sql<JsonObject>`${one.state}`,
    begins: sql<boolean>`${one.lastSeq} = 0`,
    history: sql<StoredMessage[]>`coalesce(history.messages, '[]')`,
    historyBytes: sql<number>`coalesce(history.bytes, 0)`,
  });
  return sql<RowOf<typeof row>>`
    with ${one} as (
      select ${id}, ${state}, ${lastSeq}, ${bytesPerToken} from ${conversations} where ${id} = ${conversationId}
    )
    select ${row} from ${one}, (${newestMessages(one, values)}) history`;
});

/** Reads the state of a conversation and its last messages within the limits, oldest first. */
export async function readConversation(
  database: Database,
  conversationId: string,
  { historyLimit, room: { window, takenBytes, calls } }: { historyLimit: number; room: PromptRoom },
): Promise<Transcript> {
  const values = { conversationId, historyLimit, window, takenBytes, seesCalls: calls };
  const [transcript] = await transcriptStatement.run(database, values);
  return transcript ?? { history: [], historyBytes: 0, state: {}, begins: true };
}
