import { type Column, type SQL, sql, type Table } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { ThrottleWindow } from "../../../core/limits/throttle.ts";
import { assign, column, excluded, fields, insertInto, type RowOf } from "../../../db/fragments.ts";
import { agents, conversations, turns } from "../../../db/schema.ts";
import { statement, type Values, variants } from "../../../db/statement.ts";
import { upsertThrottle } from "../../../db/throttle.ts";
import { leaseUntil } from "../../../jobs/heartbeat.ts";
import type { JsonObject } from "../../../turn/types.ts";
import { isRemembered } from "../../memories/index.ts";
import { reserveAmount, reserveUserAmount } from "../budget/budget.ts";
import { historyRoom, historyTypes, newestMessages, type StoredMessages } from "./history.ts";

/** The most turns of a conversation that wait behind the running one (decisions §5, "One at a time"). */
export const waitingLimit = 16;

/** The tables that the parts of the statement define. */
const known = alias(agents, "known");
const agent = alias(agents, "agent");
/** The agent, if the end user's budget covers the turn. */
const covered = alias(agents, "covered");
const conversation = alias(conversations, "conversation");
const turn = alias(turns, "turn");

const valueTypes = {
  turnId: "uuid",
  owner: "uuid",
  requestId: "text",
  door: "text",
  channel: "text",
  source: "text",
  subject: "text",
  agentId: "uuid",
  agentRevision: "int",
  provider: "text",
  model: "text",
  fingerprint: "text",
  ...historyTypes,
  conversationId: "uuid | null",
  ref: "text | null",
  parentId: "uuid | null",
  channelId: "text | null",
  continues: "uuid | null",
  idempotencyKey: "text | null",
  requestDigest: "text | null",
  // For an entry point with a throttle.
  throttleKey: "text | null",
  now: "timestamptz | null",
  resetsAt: "timestamptz | null",
  mostCalls: "int | null",
  // For an agent with a budget of its own or of its end users.
  month: "date | null",
  tokens: "int | null",
  addedTokens: "int | null",
  answerTokens: "int | null",
  inputPrice: "bigint | null",
  outputPrice: "bigint | null",
} as const;

type OpenValues = Values<typeof valueTypes>;

/** A table of the agent, if the turn is granted. */
type Owner = Table & Record<"id" | "organizationId", Column>;

/** The fewest tokens that this turn needs, and their cost. */
const wanted = { tokens: sql`(select tokens from wanted)`, cost: sql`(select cost from wanted)` };

function knownAgent({ agentId, agentRevision, mostCalls }: OpenValues, throttled: boolean): SQL {
  const { id, organizationId, revision } = agents;
  const { monthlyTokenBudget, userMonthlyTokenBudget, monthlyCostBudget, userMonthlyCostBudget } = agents;
  const allowed = throttled ? sql`not exists (select 1 from calls where count > ${mostCalls})` : sql`true`;
  return sql`select ${id}, ${organizationId}, ${monthlyTokenBudget}, ${userMonthlyTokenBudget}, ${monthlyCostBudget},
      ${userMonthlyCostBudget} from ${agents}
    where ${id} = ${agentId} and ${revision} = ${agentRevision} and ${allowed}`;
}

/** The optional parts of the statement. Each part costs time, even without rows. */
interface Parts {
  /** The entry point has a throttle. */
  throttled: boolean;
  /** The turn belongs to a stored conversation. */
  stored: boolean;
  /** Whether to look for memories of the subject. */
  remembers: boolean;
  /** The agent has a budget. */
  ofAgent: boolean;
  /** Each end user of the agent has a budget. */
  ofUser: boolean;
}

/** Parts that reserve in both kinds of budgets; in those of the agent only if the end user's cover the turn. */
function heldAmount(values: OpenValues, { ofAgent, ofUser }: Parts): SQL {
  const { tokens, addedTokens, answerTokens, inputPrice, outputPrice, month, ref, subject } = values;
  const { contextTokens } = conversations;
  const last = sql`select ${contextTokens} from ${conversations} where ${conversations.ref} = ${ref}`;
  const heldOfUser = sql`, user_held as (${reserveUserAmount({ agent: known, subject, month, ...wanted })}
  ), ${covered} as (select * from ${known} where exists (select 1 from user_held))`;
  const payer = ofUser ? covered : known;
  const heldOfAgent = sql`, held as (${reserveAmount({ agent: payer, month, ...wanted })})`;
  const prompt = sql`(needed.tokens - ${answerTokens})::numeric`;
  return sql`, wanted as (
    select needed.tokens,
      ceil((${prompt} * ${inputPrice} + ${answerTokens}::numeric * ${outputPrice}) / 1000000)::bigint as cost
    from (select greatest(${tokens}, ${addedTokens} + coalesce((${last}), 0)) as tokens) needed
  )${ofUser ? heldOfUser : sql``}${ofAgent ? heldOfAgent : sql``}`;
}

/**
 * Whether the stored conversation is this agent's. Another agent's conversation may have the same id:
 * `room:playground:7` belongs to an agent `room` in the playground, and to the Room of an agent `playground`.
 */
const isSameAgent = sql`${conversations.agentId} = ${excluded(conversations.agentId)}`;

function placedConversation(values: OpenValues, of: Owner): SQL {
  const { openTurns, lastTicket, id, lastSeq, awaiting, state, bytesPerToken } = conversations;
  const { conversationId, ref, parentId, channel, channelId, subject, source } = values;
  const begun = { id: conversationId, agentId: of.id, organizationId: of.organizationId, ref, parentId };
  const next = { openTurns: sql`${openTurns} + 1`, lastTicket: sql`${lastTicket} + 1` };
  return sql`
    ${insertInto(conversations, { ...begun, channel, channelId, subject, source, openTurns: 1, lastTicket: 1 })}
    from ${of}
    on conflict (${column(conversations.ref)}) do update set ${assign(conversations, next)}
      where ${openTurns} <= ${waitingLimit} and ${isSameAgent}
    returning ${id}, ${openTurns}, ${lastTicket}, ${lastSeq}, ${awaiting}, ${state}, ${bytesPerToken}`;
}

function insertedTurn(values: OpenValues, of: Owner, { stored, ofAgent, ofUser }: Parts): SQL {
  const { turnId, subject, owner, door, channel, source, provider, model, fingerprint, requestId } = values;
  const { continues, idempotencyKey, requestDigest, month } = values;
  const row = {
    id: turnId,
    owner,
    leaseUntil,
    door,
    channel,
    source,
    subject,
    provider,
    model,
    fingerprint,
    requestId,
    continues,
    idempotencyKey,
    requestDigest,
    agentId: of.id,
    organizationId: of.organizationId,
    status: "running",
    ...(stored ? placeIn(conversation) : {}),
    ...(ofAgent || ofUser ? { budgetMonth: month } : {}),
    ...(ofAgent ? { reserved: wanted.tokens, costReserved: wanted.cost } : {}),
    ...(ofUser ? { userReserved: wanted.tokens, userCostReserved: wanted.cost } : {}),
  };
  return sql`
    ${insertInto(turns, row)} from ${of}${stored ? sql`, ${conversation}` : sql``}
    returning ${turns.status}`;
}

const placeIn = ({ id, lastTicket, openTurns }: typeof conversation) => ({
  conversationId: id,
  ticket: lastTicket,
  status: sql`case when ${openTurns} = 1 then 'running' else 'queued' end`,
});

function openedRow(values: OpenValues, parts: Parts) {
  const { agentId, subject } = values;
  const { throttled, stored, remembers, ofAgent, ofUser } = parts;
  const remembered = sql<boolean>`(${isRemembered({ agentId, subject })} or ${isRemembered({ agentId, subject: sql`''` })})`;
  const part = <T>(has: boolean, value: SQL<T> | Column) => (has ? sql<T | null>`${value}` : sql<T | null>`null`);
  return fields({
    count: part<ThrottleWindow["count"]>(throttled, sql`calls.count`),
    resets_at_ms: part<ThrottleWindow["resets_at_ms"]>(throttled, sql`calls.resets_at_ms`),
    agentFound: sql<boolean>`${known.id} is not null`,
    userGranted: ofUser ? sql<boolean>`exists (select 1 from ${covered})` : sql<boolean>`true`,
    agentGranted: ofAgent ? sql<boolean>`exists (select 1 from ${agent})` : sql<boolean>`true`,
    status: sql<"running" | "queued" | null>`${turn.status}`,
    conversationId: part<string>(stored, conversation.id),
    ticket: part<number>(stored, conversation.lastTicket),
    lastSeq: part<number>(stored, conversation.lastSeq),
    awaiting: part<string>(stored, conversation.awaiting),
    state: part<JsonObject>(stored, conversation.state),
    remembered: remembers ? remembered : sql<boolean>`false`,
    history: part<StoredMessages>(stored, sql`history.messages`),
    room: part<number>(stored, historyRoom(conversation, values)),
    // The reserved tokens and cost of each budget.
    held: sql<number>`${ofAgent || ofUser ? wanted.tokens : 0}`,
    heldCost: sql<number>`${ofAgent || ofUser ? wanted.cost : 0}::float8`,
  });
}

function write(values: OpenValues, parts: Parts) {
  const { throttled, stored, ofAgent, ofUser } = parts;
  const { throttleKey: key, now, resetsAt } = values;
  const charged = ofAgent || ofUser;
  const granted = sql`, ${agent} as (
    select * from ${ofUser ? covered : known} ${ofAgent ? sql`where exists (select 1 from held where granted)` : sql``}
  )`;
  const of = charged ? agent : known;
  const row = openedRow(values, parts);
  const history = newestMessages(conversation, values, sql`${turn.status} = 'running'`);
  return sql<RowOf<typeof row>>`
    with ${throttled ? sql`calls as (${upsertThrottle({ key, now, resetsAt })}), ` : sql``}
    ${known} as (${knownAgent(values, throttled)})
    ${charged ? sql`${heldAmount(values, parts)}${granted}` : sql``}
    ${stored ? sql`, ${conversation} as (${placedConversation(values, of)})` : sql``}
    , ${turn} as (${insertedTurn(values, of, parts)})
    select ${row} from (select) one
    ${throttled ? sql`left join calls on true` : sql``}
    left join ${known} on true
    ${stored ? sql`left join ${conversation} on true` : sql``}
    left join ${turn} on true
    ${stored ? sql`left join lateral (${history}) history on true` : sql``}`;
}

export type OpenedRow = RowOf<ReturnType<typeof openedRow>>;

/**
 * OPEN, the one statement before the model: counts the request, checks that the agent equals its cached copy, reserves
 * tokens of the budgets, takes the next ticket of the conversation, inserts the turn and, if it runs at once, reads the
 * history.
 */
export const openStatement = variants((parts: Parts) =>
  statement(valueTypes, (values) => write(values, parts), { brief: true }),
);
