import { type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import { assign, column, fields, insertInto, only, type RowOf } from "../../../db/fragments.ts";
import { agents, conversations, memories, messages, turns } from "../../../db/schema.ts";
import { statement, type Values } from "../../../db/statement.ts";
import { type ThrottleRow, upsertThrottle } from "../../../http/throttle.ts";
import type { JsonObject } from "../../../turn/types.ts";
import { reserveTokens, reserveUserTokens } from "../budget/budget.ts";
import { historyTypes, newestMessages, type StoredMessage } from "./history.ts";
import { leaseUntil } from "./leases.ts";

/** At most this many turns of a conversation wait behind the one that runs (decisions §5, "One at a time"). */
export const waitingLimit = 16;

/** The tables that the parts of the statement make. */
const known = alias(agents, "known");
const agent = alias(agents, "agent");
/** The agent, where the budget of the end user covers the turn. */
const covered = alias(agents, "covered");
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
  // Where the agent has a budget, or each end user.
  month: "date | null",
  tokens: "int | null",
  addedTokens: "int | null",
} as const;

type OpenValues = Values<typeof valueTypes>;

/** As many tokens as this call takes at least. */
const wanted = sql`(select tokens from wanted)`;

function knownAgent({ agentId, agentRevision, mostCalls }: OpenValues, throttled: boolean): SQL {
  const { id, organizationId, monthlyTokenBudget, userMonthlyTokenBudget, revision } = agents;
  const allowed = throttled ? sql`not exists (select 1 from calls where count > ${mostCalls})` : sql`true`;
  return sql`select ${id}, ${organizationId}, ${monthlyTokenBudget}, ${userMonthlyTokenBudget} from ${agents}
    where ${id} = ${agentId} and ${revision} = ${agentRevision} and ${allowed}`;
}

/** Which parts a statement has. */
interface Parts {
  /** The door has a throttle. */
  throttled: boolean;
  /** The agent has a budget. */
  ofAgent: boolean;
  /** Each of its end users has one. */
  ofUser: boolean;
}

/** More `with`: holds tokens of both budgets, of the agent's only where the end user's covers them. */
function heldTokens({ tokens, addedTokens, month, ref, subject }: OpenValues, { ofAgent, ofUser }: Parts): SQL {
  if (!ofAgent && !ofUser) return sql``;
  const { contextTokens } = conversations;
  const last = sql`select ${contextTokens} from ${conversations} where ${conversations.ref} = ${ref}`;
  const heldOfUser = sql`, user_held as (${reserveUserTokens({ agent: known, subject, month, tokens: wanted })}
  ), ${covered} as (select * from ${known} where exists (select 1 from user_held))`;
  const payer = ofUser ? covered : known;
  const heldOfAgent = sql`, held as (${reserveTokens({ agent: payer, month, tokens: wanted })})`;
  return sql`, wanted as (
    select greatest(${tokens}, ${addedTokens} + coalesce((${last}), 0)) as tokens
  )${ofUser ? heldOfUser : sql``}${ofAgent ? heldOfAgent : sql``}`;
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

function insertedTurn(values: OpenValues, { ofAgent, ofUser }: Parts): SQL {
  const { turnId, subject, owner, door, source, provider, model, fingerprint, requestId, continues } = values;
  const { idempotencyKey, requestDigest, month, ref } = values;
  const row = {
    ...{ id: turnId, owner, leaseUntil, door, source, subject, requestId, continues, idempotencyKey, requestDigest },
    ...{ provider, model, fingerprint },
    ...{ agentId: agent.id, organizationId: agent.organizationId, conversationId: conversation.id },
    ticket: sql`coalesce(${conversation.lastTicket}, 1)`,
    status: sql`case when coalesce(${conversation.openTurns}, 1) = 1 then 'running' else 'queued' end`,
    ...(ofAgent || ofUser ? { budgetMonth: month } : {}),
    ...(ofAgent ? { reserved: wanted } : {}),
    ...(ofUser ? { userReserved: wanted } : {}),
  };
  return sql`
    ${insertInto(turns, row)} from ${agent} left join ${conversation} on true
    where ${ref} is null or ${conversation.id} is not null
    returning ${turns.status}`;
}

function openedRow({ remembers, agentId, subject }: OpenValues, { ofAgent, ofUser }: Parts) {
  const ofSubject = sql`${memories.agentId} = ${agentId} and ${memories.subject} in (${subject}, '')`;
  const newest = sql`select max(${messages.seq}) from ${messages} where ${messages.conversationId} = ${only(conversation.id)}`;
  return fields({
    calls: sql<ThrottleRow | null>`(select to_jsonb(calls) from calls)`,
    agentFound: sql<boolean>`exists (select 1 from ${known})`,
    userGranted: ofUser ? sql<boolean>`exists (select 1 from ${covered})` : sql<boolean>`true`,
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
    // Tokens of each budget.
    held: sql<number>`${ofAgent || ofUser ? wanted : 0}`,
  });
}

function write(values: OpenValues, parts: Parts) {
  const { throttled, ofAgent, ofUser } = parts;
  const { throttleKey: key, now, resetsAt } = values;
  const calls = throttled ? upsertThrottle({ key, now, resetsAt }) : sql`select null::int as count where false`;
  const granted = ofAgent ? sql`where exists (select 1 from held where granted)` : sql``;
  const payer = ofUser ? covered : known;
  const runs = sql`${only(turn.status)} = 'running'`;
  const row = openedRow(values, parts);
  return sql<RowOf<typeof row>>`
    with calls as (${calls}
    ), ${known} as (${knownAgent(values, throttled)}
    )${heldTokens(values, parts)}, ${agent} as (
      select ${payer.id}, ${payer.organizationId} from ${payer} ${granted}
    ), ${conversation} as (${placedConversation(values)}
    ), ${turn} as (${insertedTurn(values, parts)}
    ), history as (${newestMessages(conversation, values, runs)}
    )
    select ${row}`;
}

export type OpenedRow = RowOf<ReturnType<typeof openedRow>>;

const open = (throttled: boolean, ofAgent: boolean, ofUser: boolean) =>
  statement(valueTypes, (values) => write(values, { throttled, ofAgent, ofUser }));

const [plain, ofAgents, ofUsers, ofBoth] = [
  { open: open(false, false, false), throttled: open(true, false, false) },
  { open: open(false, true, false), throttled: open(true, true, false) },
  { open: open(false, false, true), throttled: open(true, false, true) },
  { open: open(false, true, true), throttled: open(true, true, true) },
];

/**
 * The one statement before the model: counts the call, checks that the agent is as it was cached, holds tokens of the
 * budgets, takes the next ticket of the conversation, inserts the turn and, when that runs at once, reads the history.
 */
export function openStatement({ throttled, ofAgent, ofUser }: Parts) {
  const charged = ofUser ? (ofAgent ? ofBoth : ofUsers) : ofAgent ? ofAgents : plain;
  return throttled ? charged.throttled : charged.open;
}
