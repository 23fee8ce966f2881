import type { Database } from "../../../db/client.ts";
import type { JsonObject, ModelMessage } from "../../../turn/types.ts";

/**
 * What the model sees of a conversation at most, beside the agent's `historyLimit`: the newest messages that fit, none
 * when already the newest is larger. It is more than models take in, and far less than 1000 long messages are.
 */
export const historyBytes = 2 * 1024 * 1024;

export interface StoredMessage {
  turnId: string | null;
  seq: number;
  role: "user" | "assistant";
  content: string;
  /** The provider's own messages; null where the model gets the text alone. */
  modelMessages: ModelMessage[] | null;
}

/** How much a prompt may hold, and what of it is taken whatever the conversation is. */
export interface PromptRoom {
  /** Tokens. */
  window: number;
  /** The system prompt, the tools, the new messages and a history that comes with them, in bytes. */
  takenBytes: number;
  /** Whether the model sees its earlier calls and what came of them. */
  calls: boolean;
}

/** What a turn reads of its conversation when its turn comes. */
export interface Transcript {
  history: StoredMessage[];
  /** What the history takes, in bytes. */
  historyBytes: number;
  state: JsonObject;
  /** Whether nothing was said in it yet. */
  begins: boolean;
}

const newestFirst = "over (order by seq desc rows unbounded preceding)";

/** Of a conversation whose provider never said how many tokens its bytes were: fewer than most texts have. */
const usualBytesPerToken = 3;

/** Who reads: placeholders of the statement, or expressions. */
interface Reader {
  limit: string;
  window: string;
  taken: string;
  /** Whether the model sees its earlier calls and what came of them. */
  calls: string;
}

/**
 * The newest messages of the conversation `c` that fit, with the bytes that each takes together with the newer ones.
 * Where the calls of a reply take more than three quarters of the room together with what is newer, it and those before
 * it are its text alone: one long result must not be all that the model remembers.
 *
 * First the calls are counted as they are stored, which unpacks no JSON; only what fits by that count is worth looking
 * at more closely. (JSON has no length that PostgreSQL would tell: joined with an empty list it is unpacked, and nothing
 * else.) How many bytes the prompt has room for is told by the tokens that the last one was.
 */
export const newestMessages = (c: string, { limit, window, taken, calls }: Reader) => `
    select * from (
      select turn_id, seq, role, content, case when whole then model_messages end as model_messages, room,
        sum(case when whole then whole_bytes else octet_length(content) end) ${newestFirst} as bytes
      from (
        select m.*, room, coalesce(sum(whole_bytes) ${newestFirst} <= room * 0.75 and packed <= ${historyBytes}, false) as whole
        from (
          select m.*, case when packed <= ${historyBytes}
            then octet_length(content) + coalesce(pg_column_size(model_messages || '[]'), 0) end as whole_bytes
          from (
            select turn_id, seq, role, content, case when ${calls}::boolean then model_messages end as model_messages,
              sum(octet_length(content) + coalesce(pg_column_size(case when ${calls}::boolean then model_messages end), 0))
                ${newestFirst} as packed
            from messages where conversation_id = (select id from ${c}) order by seq desc limit ${limit}
          ) m
        ) m, (
          select least(${historyBytes}, ${window}::int * coalesce(bytes_per_token, ${usualBytesPerToken}) - ${taken}::int) as room
          from ${c}
        ) r
      ) m
    ) m where bytes <= room`;

const transcriptStatement = `
  with conversation as (select id, state, last_seq, bytes_per_token from conversations where id = $1)
  select c.state, c.last_seq = 0 as begins, coalesce(h.messages, '[]') as history, coalesce(h.bytes, 0) as "historyBytes"
  from conversation c, (
    select json_agg(json_build_object(
        'turnId', turn_id, 'seq', seq, 'role', role, 'content', content, 'modelMessages', model_messages) order by seq) as messages,
      max(bytes)::int as bytes
    from (${newestMessages("conversation", { limit: "$2", window: "$3", taken: "$4", calls: "$5" })}) m
  ) h`;

/** The conversation as it is: its last messages as far as the limits let, oldest first. */
export async function readConversation(
  database: Database,
  conversationId: string,
  { historyLimit, room }: { historyLimit: number; room: PromptRoom },
): Promise<Transcript> {
  const values = [conversationId, historyLimit, room.window, room.takenBytes, room.calls];
  const [transcript] = await database.query<Transcript>(transcriptStatement, values);
  return transcript ?? { history: [], historyBytes: 0, state: {}, begins: true };
}
