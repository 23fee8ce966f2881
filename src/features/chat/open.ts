import type { Database } from "../../db/client.ts";
import {
  judge,
  type Limit,
  requireAllowed,
  type ThrottleRow,
  throttleParameters,
  throttleUpsert,
} from "../../http/throttle.ts";
import type { ModelMessage } from "../../turn/types.ts";

/** At most this many turns of a conversation wait behind the one that runs (decisions §5, "One at a time"). */
export const waitingLimit = 16;

export const leaseSeconds = 30;

/**
 * What the model sees of a conversation at most, beside the agent's `historyLimit`: the newest messages that fit, none
 * when already the newest is larger. It is more than models take in, and far less than 1000 long messages are.
 */
export const historyBytes = 2 * 1024 * 1024;

/** A turn that asks for its place. */
export interface Opening {
  turnId: string;
  agentId: string;
  agentRevision: number;
  owner: string;
  door: string;
  subject: string;
  provider: string;
  model: string;
  fingerprint: string;
  requestId: string;
  historyLimit: number;
  /** Null: nothing but the turn's row is stored. */
  conversation: { id: string; ref: string; channel: string; channelId: string } | null;
  /** The turn that stopped for a decision and goes on in this one. */
  continues: string | null;
  /** Whether to look for memories of the subject. */
  remembers: boolean;
  /** Null: this door has no throttle. */
  throttle: { key: string; limit: Limit; now: number } | null;
}

export interface StoredMessage {
  turnId: string | null;
  seq: number;
  role: "user" | "assistant";
  content: string;
  modelMessages: ModelMessage[] | null;
}

interface OpenedRow {
  calls: ThrottleRow | null;
  agent_found: boolean;
  conversation_id: string | null;
  ticket: number | null;
  last_seq: number | null;
  awaiting: string | null;
  remembered: boolean;
  status: "running" | "queued" | null;
  /** `seq` of the newest message that this statement saw, even if it is too large for the history. */
  newest: number | null;
  history: StoredMessage[] | null;
}

export type Opened =
  /** The agent is not as it was cached: load it and ask again. */
  | { kind: "changed" }
  | { kind: "full" }
  | {
      kind: "head" | "queued";
      conversation: { id: string; ref: string; ticket: number } | null;
      /** The turn of the conversation that waited for a decision when this one came. */
      awaiting: string | null;
      /** Whether anything is remembered that may concern the turn. */
      remembered: boolean;
      history: StoredMessage[];
    };

const newestFirst = "over (order by seq desc rows unbounded preceding)";

/**
 * The newest messages, with the bytes that each takes together with the newer ones. First they are counted as they are
 * stored, which unpacks no JSON; only what fits by that count is worth looking at more closely. (JSON has no length
 * that PostgreSQL would tell: joined with an empty list it is unpacked, and nothing else.)
 */
const newestMessages = (conversation: string, limit: string) => `
    select turn_id, seq, role, content, model_messages,
      sum(octet_length(content) + coalesce(pg_column_size(model_messages || '[]'), 0)) ${newestFirst} as bytes
    from (
      select turn_id, seq, role, content, model_messages,
        sum(octet_length(content) + coalesce(pg_column_size(model_messages), 0)) ${newestFirst} as packed
      from messages where conversation_id = ${conversation} order by seq desc limit ${limit}
    ) stored where packed <= ${historyBytes}`;

/**
 * The one statement before the model: counts the call, checks that the agent is as it was cached, takes the next
 * ticket of the conversation, inserts the turn and, when that runs at once, reads the history.
 */
const openStatement = (calls: string, allowed: string) => `
  with calls as (
    ${calls}
  ), agent as (
    select id, organization_id from agents
    where id = $2::uuid and revision = $3::int and ${allowed}
  ), conversation as (
    insert into conversations (id, agent_id, organization_id, ref, channel, channel_id, subject, open_turns, last_ticket)
    select $8::uuid, agent.id, agent.organization_id, $9, $10, $11, $6, 1, 1 from agent where $9::text is not null
    on conflict (ref) do update
      set open_turns = conversations.open_turns + 1, last_ticket = conversations.last_ticket + 1
      where conversations.open_turns <= ${waitingLimit}
    returning id, open_turns, last_ticket, last_seq, awaiting
  ), turn as (
    insert into turns (id, agent_id, organization_id, conversation_id, subject, ticket, status, owner, lease_until,
      door, provider, model, fingerprint, request_id, continues)
    select $1::uuid, agent.id, agent.organization_id, c.id, $6, coalesce(c.last_ticket, 1),
      case when coalesce(c.open_turns, 1) = 1 then 'running' else 'queued' end, $4::uuid,
      now() + interval '${leaseSeconds} seconds', $5, $7, $14, $15, $12, $16::uuid
    from agent left join conversation c on true
    where $9::text is null or c.id is not null
    returning status
  ), history as (
    select json_agg(json_build_object(
        'turnId', turn_id, 'seq', seq, 'role', role, 'content', content, 'modelMessages', model_messages) order by seq) as messages
    from (${newestMessages("(select id from conversation)", "$13")}) m
    where bytes <= ${historyBytes} and (select status from turn) = 'running'
  )
  select
    (select to_jsonb(calls) from calls) as calls,
    exists (select 1 from agent) as agent_found,
    (select id from conversation) as conversation_id,
    (select last_ticket from conversation) as ticket,
    (select last_seq from conversation) as last_seq,
    (select awaiting from conversation) as awaiting,
    $17::boolean and exists (select 1 from memories where agent_id = $2::uuid and subject in ($6, '')) as remembered,
    (select status from turn) as status,
    (select max(seq) from messages where conversation_id = (select id from conversation)) as newest,
    (select messages from history) as history`;

const openFreely = openStatement("select null::int as count where false", "true");
const openThrottled = openStatement(
  throttleUpsert("$18", "$19", "$20"),
  "not exists (select 1 from calls where count > $21::int)",
);

/** Takes a place for the turn, or says why there is none. Throws the 429 of the throttle. */
export async function open(database: Database, opening: Opening): Promise<Opened> {
  const { conversation, throttle } = opening;
  const parameters = [
    opening.turnId,
    opening.agentId,
    opening.agentRevision,
    opening.owner,
    opening.door,
    opening.subject,
    opening.provider,
    conversation?.id ?? null,
    conversation?.ref ?? null,
    conversation?.channel ?? null,
    conversation?.channelId ?? null,
    opening.requestId,
    opening.historyLimit,
    opening.model,
    opening.fingerprint,
    opening.continues,
    opening.remembers,
  ];
  const [row] = throttle
    ? await database.query<OpenedRow>(openThrottled, [
        ...parameters,
        ...throttleParameters(throttle.key, throttle.limit, throttle.now),
        throttle.limit.calls,
      ])
    : await database.query<OpenedRow>(openFreely, parameters);
  if (!row) throw new Error("OPEN answered no row");
  if (throttle && row.calls) requireAllowed(judge(row.calls, throttle.limit, throttle.now));
  if (!row.agent_found) return { kind: "changed" };
  if (row.status === null) return { kind: "full" };

  const place = row.conversation_id === null || !conversation ? null : { ...conversation, id: row.conversation_id };
  const history = await settleHistory(database, row, opening.historyLimit);
  return {
    kind: row.status === "running" ? "head" : "queued",
    conversation: place && { id: place.id, ref: place.ref, ticket: row.ticket ?? 1 },
    awaiting: row.awaiting,
    remembered: row.remembered,
    history,
  };
}

/**
 * An upsert that waited for the row sees the new `last_seq` but the messages of before: read them again then.
 * A queued turn reads its history when its turn comes.
 */
async function settleHistory(database: Database, row: OpenedRow, limit: number): Promise<StoredMessage[]> {
  const history = row.history ?? [];
  if (row.status === "queued" || row.conversation_id === null) return history;
  if (limit === 0 || (row.newest ?? 0) === row.last_seq) return history;
  return readHistory(database, row.conversation_id, limit);
}

const historyStatement = `
  select turn_id as "turnId", seq, role, content, model_messages as "modelMessages" from (${newestMessages("$1", "$2")}) m
  where bytes <= ${historyBytes} order by seq`;

/** The last messages of a conversation as far as `limit` and `historyBytes` let, oldest first. */
export function readHistory(database: Database, conversationId: string, limit: number): Promise<StoredMessage[]> {
  return database.query<StoredMessage>(historyStatement, [conversationId, limit]);
}
