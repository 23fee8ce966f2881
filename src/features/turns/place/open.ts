import type { Database } from "../../../db/client.ts";
import {
  judge,
  type Limit,
  requireAllowed,
  type ThrottleRow,
  throttleParameters,
  throttleUpsert,
} from "../../../http/throttle.ts";
import type { JsonObject } from "../../../turn/types.ts";
import { type Reservation, reserveTokens } from "../budget/budget.ts";
import { newestMessages, type PromptRoom, readConversation, type StoredMessage, type Transcript } from "./history.ts";

/** At most this many turns of a conversation wait behind the one that runs (decisions §5, "One at a time"). */
export const waitingLimit = 16;

export const leaseSeconds = 30;

/** What makes two requests the same. */
export interface Idempotency {
  key: string;
  /** Of the body as it came: SHA-256, hexadecimal. */
  digest: string;
}

/** A turn that asks for its place. */
export interface Opening {
  turnId: string;
  agentId: string;
  agentRevision: number;
  owner: string;
  door: string;
  source: string;
  subject: string;
  provider: string;
  model: string;
  fingerprint: string;
  requestId: string;
  historyLimit: number;
  room: PromptRoom;
  /** Null: nothing but the turn's row is stored. */
  conversation: { id: string; ref: string; channel: string; channelId: string; parentId: string | null } | null;
  /** The turn that stopped for a decision and goes on in this one. */
  continues: string | null;
  idempotency: Idempotency | null;
  /** Whether to look for memories of the subject. */
  remembers: boolean;
  /** Null: this door has no throttle. */
  throttle: { key: string; limit: Limit; now: number } | null;
  /**
   * Null: the agent has no budget. `tokens` at least; as many as the conversation's last prompt took and `addedTokens`,
   * when that is more.
   */
  reservation: (Reservation & { addedTokens: number }) | null;
}

interface OpenedRow {
  calls: ThrottleRow | null;
  agent_found: boolean;
  agent_granted: boolean;
  conversation_id: string | null;
  ticket: number | null;
  last_seq: number | null;
  awaiting: string | null;
  remembered: boolean;
  status: "running" | "queued" | null;
  /** `seq` of the newest message that this statement saw, even if it is too large for the history. */
  newest: number | null;
  state: JsonObject | null;
  history: StoredMessage[] | null;
  history_bytes: number | null;
  /** Tokens of the agent's budget. */
  held: number;
}

export type Opened =
  /** The agent is not as it was cached: load it and ask again. */
  | { kind: "changed" }
  /** The line is full, and so much of the budget is held for nothing. */
  | { kind: "full"; held: number }
  /** The agent's budget of this month does not cover it. */
  | { kind: "spent" }
  | {
      kind: "head" | "queued";
      conversation: { id: string; ref: string; ticket: number } | null;
      /** The turn of the conversation that waited for a decision when this one came. */
      awaiting: string | null;
      /** Whether anything is remembered that may concern the turn. */
      remembered: boolean;
      /** Null while it waits. */
      transcript: Transcript | null;
    };

/** How many values a statement takes before those that only some take. */
const fixedParameters = 24;

/**
 * The one statement before the model: counts the call, checks that the agent is as it was cached, holds tokens of its
 * budget, takes the next ticket of the conversation, inserts the turn and, when that runs at once, reads the history.
 */
function openStatement({ throttled, budgeted }: { throttled: boolean; budgeted: boolean }): string {
  const at = (n: number) => `$${fixedParameters + n + (throttled ? 4 : 0)}`;
  const month = at(1);
  const tokens = "(select tokens from wanted)";
  const wanted = `greatest(${at(2)}::int,
    ${at(3)}::int + coalesce((select context_tokens from conversations where ref = $9), 0))`;
  const throttle = [1, 2, 3].map((n) => `$${fixedParameters + n}`) as [string, string, string];
  const calls = throttled ? throttleUpsert(...throttle) : "select null::int as count where false";
  const allowed = throttled ? `not exists (select 1 from calls where count > $${fixedParameters + 4}::int)` : "true";
  return `
  with calls as (
    ${calls}
  ), known as (
    select id, organization_id, monthly_token_budget from agents
    where id = $2::uuid and revision = $3::int and ${allowed}
  )${budgeted ? `, wanted as (select ${wanted} as tokens), held as (${reserveTokens({ agent: "known", month, tokens })})` : ""}, agent as (
    select id, organization_id from known ${budgeted ? "where exists (select 1 from held where granted)" : ""}
  ), conversation as (
    insert into conversations (id, agent_id, organization_id, ref, channel, channel_id, subject, source, parent_id,
      open_turns, last_ticket)
    select $8::uuid, agent.id, agent.organization_id, $9, $10, $11, $6, $18, $19::uuid, 1, 1
    from agent where $9::text is not null
    on conflict (ref) do update
      set open_turns = conversations.open_turns + 1, last_ticket = conversations.last_ticket + 1
      where conversations.open_turns <= ${waitingLimit}
    returning id, open_turns, last_ticket, last_seq, awaiting, state, bytes_per_token
  ), turn as (
    insert into turns (id, agent_id, organization_id, conversation_id, subject, ticket, status, owner, lease_until,
      door, source, provider, model, fingerprint, request_id, continues, idempotency_key, request_digest, reserved, budget_month)
    select $1::uuid, agent.id, agent.organization_id, c.id, $6, coalesce(c.last_ticket, 1),
      case when coalesce(c.open_turns, 1) = 1 then 'running' else 'queued' end, $4::uuid,
      now() + interval '${leaseSeconds} seconds', $5, $18, $7, $14, $15, $12, $16::uuid,
      $22, $23,
      ${budgeted ? `${tokens}::int, ${month}::date` : "0, null"}
    from agent left join conversation c on true
    where $9::text is null or c.id is not null
    returning status
  ), history as (
    select json_agg(json_build_object(
        'turnId', turn_id, 'seq', seq, 'role', role, 'content', content, 'modelMessages', model_messages) order by seq) as messages,
      max(bytes)::int as bytes
    from (${newestMessages("conversation", { limit: "$13", window: "$20", taken: "$21", calls: "$24" })}) m
    where (select status from turn) = 'running'
  )
  select
    (select to_jsonb(calls) from calls) as calls,
    exists (select 1 from known) as agent_found,
    exists (select 1 from agent) as agent_granted,
    (select id from conversation) as conversation_id,
    (select last_ticket from conversation) as ticket,
    (select last_seq from conversation) as last_seq,
    (select awaiting from conversation) as awaiting,
    (select state from conversation) as state,
    $17::boolean and exists (select 1 from memories where agent_id = $2::uuid and subject in ($6, '')) as remembered,
    (select status from turn) as status,
    (select max(seq) from messages where conversation_id = (select id from conversation)) as newest,
    (select messages from history) as history,
    (select bytes from history) as history_bytes,
    ${budgeted ? tokens : "0"} as held`;
}

/** By whether a door has a throttle, and by whether the agent has a budget. */
const openStatements = [false, true].map((throttled) =>
  [false, true].map((budgeted) => openStatement({ throttled, budgeted })),
);

/** Takes a place for the turn, or says why there is none. Throws the 429 of the throttle. */
export async function open(database: Database, opening: Opening): Promise<Opened> {
  const { conversation, throttle, reservation } = opening;
  const statement = openStatements[throttle ? 1 : 0]?.[reservation ? 1 : 0] ?? "";
  const [row] = await database.query<OpenedRow>(statement, [
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
    opening.source,
    conversation?.parentId ?? null,
    opening.room.window,
    opening.room.takenBytes,
    opening.idempotency?.key ?? null,
    opening.idempotency?.digest ?? null,
    opening.room.calls,
    ...(throttle ? [...throttleParameters(throttle.key, throttle.limit, throttle.now), throttle.limit.calls] : []),
    ...(reservation ? [reservation.month, reservation.tokens, reservation.addedTokens] : []),
  ]);
  if (!row) throw new Error("OPEN answered no row");
  if (throttle && row.calls) requireAllowed(judge(row.calls, throttle.limit, throttle.now));
  if (!row.agent_found) return { kind: "changed" };
  if (!row.agent_granted) return { kind: "spent" };
  if (row.status === null) return { kind: "full", held: row.held };

  const place = row.conversation_id === null || !conversation ? null : { ...conversation, id: row.conversation_id };
  return {
    kind: row.status === "running" ? "head" : "queued",
    conversation: place && { id: place.id, ref: place.ref, ticket: row.ticket ?? 1 },
    awaiting: row.awaiting,
    remembered: row.remembered,
    transcript: await currentTranscript(database, row, opening),
  };
}

/**
 * An upsert that waited for the row sees the new `last_seq` but the messages of before: read them again then.
 * A queued turn reads its history when its turn comes.
 */
async function currentTranscript(database: Database, row: OpenedRow, opening: Opening): Promise<Transcript | null> {
  if (row.status === "queued") return null;
  const current = opening.historyLimit === 0 || (row.newest ?? 0) === row.last_seq;
  if (row.conversation_id !== null && !current) return readConversation(database, row.conversation_id, opening);
  return {
    history: row.history ?? [],
    historyBytes: row.history_bytes ?? 0,
    state: row.state ?? {},
    begins: (row.last_seq ?? 0) === 0,
  };
}
