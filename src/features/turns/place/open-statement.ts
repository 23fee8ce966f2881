import { type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import { assign, column, fields, insertInto, only, type RowOf } from "../../../db/fragments.ts";
import { agents, conversations, memories, messages, turns } from "../../../db/schema.ts";
import { statement, type Values } from "../../../db/statement.ts";
import { type ThrottleRow, upsertThrottle } from "../../../http/throttle.ts";
import type { JsonObject } from "../../../turn/types.ts";
import { reserveTokens } from "../budget/budget.ts";
import { historyTypes, newestMessages, type StoredMessage } from "./history.ts";
import { leaseUntil } from "./leases.ts";

/** At most this many turns of a conversation wait behind the one that runs (decisions §5, "One at a time"). */
export const waitingLimit = 16;

/** The tables that the parts of the statement make. */
const known = alias(agents, "known");
const agent = alias(agents, "agent");
const conversation = alias(conversations, "conversation");
const turn = alias(turns, "turn");

const valueTypes = {
  turnId: "uuid",
  owner: "uuid",
  requestId: "text",
  door: "text",
  source: "text",
  subject: "text",
  agentId: "uuid",
  agentRevision: "int",
  provider: "text",
  model: "text",
  fingerprint: "text",
  remembers: "boolean",
  ...historyTypes,
  conversationId: "uuid | null",
  ref: "text | null",
  parentId: "uuid | null",
  channel: "text | null",
  channelId: "text | null",
  continues: "uuid | null",
  idempotencyKey: "text | null",
  requestDigest: "text | null",
  // At a door with a throttle.
  throttleKey: "text | null",
  now: "timestamptz | null",
  resetsAt: "timestamptz | null",
  mostCalls: "int | null",
  // Of an agent with a budget.
  month: "date | null",
  tokens: "int | null",
  addedTokens: "int | null",
} as const;

type OpenValues = Values<typeof valueTypes>;

/** As many tokens as this call takes at least. */
const wanted = sql`(select tokens from wanted)`;

function knownAgent({ agentId, agentRevision, mostCalls }: OpenValues, throttled: boolean): SQL {
  const { id, organizationId, monthlyTokenBudget, revision } = agents;
  const allowed = throttled ? sql`not exists (select 1 from calls where count > ${mostCalls})` : sql`true`;
  return sql`select ${id}, ${organizationId}, ${monthlyTokenBudget} from ${agents}
    where ${id} = ${agentId} and ${revision} = ${agentRevision} and ${allowed}`;
}

/** More `with` of an agent with a budget. */
function heldTokens({ tokens, addedTokens, month, ref }: OpenValues): SQL {
  const { contextTokens } = conversations;
  const last = sql`select ${contextTokens} from ${conversations} where ${conversations.ref} = ${ref}`;
  return sql`, wanted as (
    select greatest(${tokens}, ${addedTokens} + coalesce((${last}), 0)) as tokens
  ), held as (${reserveTokens({ agent: known, month, tokens: wanted })})`;
}

function placedConversation(values: OpenValues): SQL {
  const { openTurns, lastTicket, id, lastSeq, awaiting, state, bytesPerToken } = conversations;
  const { conversationId, ref, parentId, channel, channelId, subject, source } = values;
  const begun = { id: conversationId, agentId: agent.id, organizationId: agent.organizationId, ref, parentId };
  const next = { openTurns: sql`${openTurns} + 1`, lastTicket: sql`${lastTicket} + 1` };
  return sql`
    ${insertInto(conversations, { ...begun, channel, channelId, subject, source, openTurns: 1, lastTicket: 1 })}
    from ${agent} where ${ref} is not null
    on conflict (${column(conversations.ref)}) do update set ${assign(conversations, next)}
      where ${openTurns} <= ${waitingLimit}
    returning ${id}, ${openTurns}, ${lastTicket}, ${lastSeq}, ${awaiting}, ${state}, ${bytesPerToken}`;
}

function insertedTurn(values: OpenValues, budgeted: boolean): SQL {
  const { turnId, subject, owner, door, source, provider, model, fingerprint, requestId, continues } = values;
  const { idempotencyKey, requestDigest, month, ref } = values;
  const row = {
    ...{ id: turnId, owner, leaseUntil, door, source, subject, requestId, continues, idempotencyKey, requestDigest },
    ...{ provider, model, fingerprint },
    ...{ agentId: agent.id, organizationId: agent.organizationId, conversationId: conversation.id },
    ticket: sql`coalesce(${conversation.lastTicket}, 1)`,
    status: sql`case when coalesce(${conversation.openTurns}, 1) = 1 then 'running' else 'queued' end`,
    ...(budgeted ? { reserved: wanted, budgetMonth: month } : {}),
  };
  return sql`
    ${insertInto(turns, row)} from ${agent} left join ${conversation} on true
    where ${ref} is null or ${conversation.id} is not null
    returning ${turns.status}`;
}

function openedRow({ remembers, agentId, subject }: OpenValues, budgeted: boolean) {
  const ofSubject = sql`${memories.agentId} = ${agentId} and ${memories.subject} in (${subject}, '')`;
  const newest = sql`select max(${messages.seq}) from ${messages} where ${messages.conversationId} = ${only(conversation.id)}`;
  return fields({
    calls: sql<ThrottleRow | null>`(select to_jsonb(calls) from calls)`,
    agentFound: sql<boolean>`exists (select 1 from ${known})`,
    agentGranted: sql<boolean>`exists (select 1 from ${agent})`,
    conversationId: only(conversation.id),
    ticket: only(conversation.lastTicket),
    lastSeq: only(conversation.lastSeq),
    awaiting: only(conversation.awaiting),
    state: sql<JsonObject | null>`${only(conversation.state)}`,
    remembered: sql<boolean>`${remembers} and exists (select 1 from ${memories} where ${ofSubject})`,
    status: sql<"running" | "queued" | null>`${only(turn.status)}`,
    // Of the newest message that this statement saw, even if it is too large for the history.
    newest: sql<number | null>`(${newest})`,
    history: sql<StoredMessage[] | null>`(select messages from history)`,
    historyBytes: sql<number | null>`(select bytes from history)`,
    // Tokens of the agent's budget.
    held: sql<number>`${budgeted ? wanted : 0}`,
  });
}

function write(values: OpenValues, throttled: boolean, budgeted: boolean) {
  const { throttleKey: key, now, resetsAt } = values;
  const calls = throttled ? upsertThrottle({ key, now, resetsAt }) : sql`select null::int as count where false`;
  const granted = budgeted ? sql`where exists (select 1 from held where granted)` : sql``;
  const runs = sql`${only(turn.status)} = 'running'`;
  const row = openedRow(values, budgeted);
  return sql<RowOf<typeof row>>`
    with calls as (${calls}
    ), ${known} as (${knownAgent(values, throttled)}
    )${budgeted ? heldTokens(values) : sql``}, ${agent} as (
      select ${known.id}, ${known.organizationId} from ${known} ${granted}
    ), ${conversation} as (${placedConversation(values)}
    ), ${turn} as (${insertedTurn(values, budgeted)}
    ), history as (${newestMessages(conversation, values, runs)}
    )
    select ${row}`;
}

export type OpenedRow = RowOf<ReturnType<typeof openedRow>>;

const [plain, throttled, budgeted, both] = [
  statement(valueTypes, (values) => write(values, false, false)),
  statement(valueTypes, (values) => write(values, true, false)),
  statement(valueTypes, (values) => write(values, false, true)),
  statement(valueTypes, (values) => write(values, true, true)),
];

/**
 * The one statement before the model: counts the call, checks that the agent is as it was cached, holds tokens of its
 * budget, takes the next ticket of the conversation, inserts the turn and, when that runs at once, reads the history.
 */
export function openStatement(of: { throttled: boolean; budgeted: boolean }) {
  if (of.budgeted) return of.throttled ? both : budgeted;
  return of.throttled ? throttled : plain;
}
