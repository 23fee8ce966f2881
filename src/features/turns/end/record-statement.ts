import { type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import {
  assign,
  column,
  fields,
  insertInto,
  type JsonRow,
  jsonFits,
  jsonRows,
  type RowOf,
} from "../../../db/fragments.ts";
import {
  conversations,
  files,
  hookExecutions,
  inbox,
  isOpen,
  jobs,
  messages,
  outbox,
  toolCalls,
  turns,
} from "../../../db/schema.ts";
import { statement, type Values, variants } from "../../../db/statement.ts";
import { replaceWaiting, unlessWaiting } from "../../../jobs/enqueue.ts";
import { stateLimit } from "../../../turn/state.ts";
import { searchColumn, withExtracted } from "../../conversations/index.ts";
import { isCounted, onceSettled, settleTokens } from "../budget/budget.ts";
import { titlesJob } from "../follow-up/due.ts";

// The rows that RECORD stores beside its turn, which it takes as JSON.

const messageShape = {
  id: messages.id,
  /** 1 for the first message of the turn. */
  position: "int",
  role: messages.role,
  content: messages.content,
  /** `searchWords` of the content. */
  search: "text",
  reasoning: messages.reasoning,
  steps: messages.steps,
  modelMessages: messages.modelMessages,
  metadata: messages.metadata,
  promptTokens: messages.promptTokens,
  completionTokens: messages.completionTokens,
} as const;

export type MessageRow = JsonRow<typeof messageShape>;

const callShape = {
  id: toolCalls.id,
  toolCallId: toolCalls.toolCallId,
  name: toolCalls.name,
  args: toolCalls.args,
  status: toolCalls.status,
  durationMs: toolCalls.durationMs,
} as const;

export type CallRow = JsonRow<typeof callShape>;

const hookShape = {
  id: hookExecutions.id,
  hookId: hookExecutions.hookId,
  position: hookExecutions.position,
  event: hookExecutions.event,
  toolName: hookExecutions.toolName,
  success: hookExecutions.success,
  error: hookExecutions.error,
  durationMs: hookExecutions.durationMs,
  args: hookExecutions.args,
  result: hookExecutions.result,
} as const;

export type HookRow = JsonRow<typeof hookShape>;

const workShape = {
  id: jobs.id,
  kind: jobs.kind,
  key: jobs.key,
  payload: jobs.payload,
  runAt: jobs.runAt,
} as const;

export type WorkRow = JsonRow<typeof workShape>;

const sendShape = {
  id: outbox.id,
  part: outbox.part,
  channel: outbox.channel,
  target: outbox.target,
  body: outbox.body,
} as const;

export type SendRow = JsonRow<typeof sendShape>;

/** How long a person may take to decide about a call (decisions §7). */
const approvalHours = 24;

const valueTypes = {
  turnId: "uuid",
  owner: "uuid",
  status: "text",
  promptTokens: "int",
  completionTokens: "int",
  ttftMs: "int | null",
  durationMs: "int",
  errorCode: "text | null",
  suspended: "jsonb | null",
  debug: "jsonb | null",
  charged: "int",
  contextTokens: "int | null",
  bytesPerToken: "real | null",
  stateChanges: "jsonb | null",
  messageCount: "int",
  messages: "jsonb | null",
  calls: "jsonb | null",
  hooks: "jsonb | null",
  work: "jsonb | null",
  titleDueAt: "timestamptz | null",
  followUpDueAt: "timestamptz | null",
  /** For a conversation without one. */
  title: "text | null",
  learnable: "boolean",
  fileIds: "uuid[] | null",
  /** The message that the files came with. */
  askedId: "uuid | null",
  // Where rows of a messenger are written with the turn.
  inboxIds: "uuid[] | null",
  sends: "jsonb | null",
  supersededAfter: "int | null",
} as const;

type RecordValues = Values<typeof valueTypes>;

/** The tables that the parts of the statement make. */
const turn = alias(turns, "turn");
const conversation = alias(conversations, "conversation");

function closedTurn(
  { turnId, owner, status, debug, ...values }: RecordValues,
  { budget, ...parts }: Parts,
  superseded: SQL<boolean>,
): SQL {
  const { id, budgetMonth, createdAt } = turns;
  const { promptTokens, completionTokens, messageCount, ttftMs, durationMs, errorCode, suspended } = values;
  const closed = {
    ...{ status, promptTokens, completionTokens, messageCount, ttftMs, durationMs, errorCode, suspended },
    finishedAt: sql`now()`,
    // A failed turn may be asked for again with the same key.
    idempotencyKey: sql`case when ${status} in ('done', 'approval') then ${turns.idempotencyKey} end`,
    // The debug data of a deleted conversation is not stored.
    ...(parts.debug ? { debug: sql`case when ${turns.conversationId} is not null then ${debug} end` } : {}),
  };
  // A turn that began before there was a budget counts as well, if there is one now.
  const month = sql`coalesce(${budgetMonth}, date_trunc('month', ${createdAt} at time zone 'UTC')::date)`;
  return sql`
    update ${turns} set ${assign(turns, closed)}
    where ${id} = ${turnId} and ${turns.owner} = ${owner} and ${isOpen(turns)} and not ${superseded}
      and ${budget ? sql`true` : sql`not ${isCounted(turns, month)}`}
    returning ${id}, ${turns.conversationId}, ${turns.agentId}, ${turns.organizationId}, ${turns.subject},
      ${turns.continues}, ${turns.reserved}, ${turns.userReserved},
      ${month} as ${column(budgetMonth)}`;
}

function freedConversation(
  { turnId, status, messageCount, promptTokens, completionTokens, ...values }: RecordValues,
  { budget, state, titles, followUp }: Parts,
): SQL {
  const { id, openTurns, lastSeq, totalTokens, awaiting, updatedAt, contextTokens, bytesPerToken } = conversations;
  const read = withExtracted(sql`${lastSeq} + ${messageCount}`);
  const changed = {
    openTurns: sql`${openTurns} - 1`,
    lastSeq: sql`${lastSeq} + ${messageCount}`,
    messageCount: sql`${conversations.messageCount} + ${messageCount}`,
    totalTokens: sql`${totalTokens} + ${promptTokens} + ${completionTokens}`,
    // The turn that this one continues no longer waits for approval.
    awaiting: sql`case when ${status} = 'approval' then ${turnId} else nullif(${awaiting}, ${turn.continues}) end`,
    updatedAt: sql`case when ${messageCount} > 0 then now() else ${updatedAt} end`,
    ...(state ? { state: changedState(values.stateChanges) } : {}),
    contextTokens: sql`coalesce(${values.contextTokens}, ${contextTokens})`,
    bytesPerToken: sql`coalesce(${values.bytesPerToken}, ${bytesPerToken})`,
    title: sql`coalesce(${conversations.title}, ${values.title})`,
    // Messages sent while learning is off are never learned.
    metadata: sql`case when ${values.learnable} then ${conversations.metadata} else ${read} end`,
    ...(titles ? { titleDueAt: values.titleDueAt } : {}),
    ...(followUp ? { followUpDueAt: values.followUpDueAt } : {}),
  };
  return sql`
    update ${conversations} set ${assign(conversations, changed)}
    from ${turn} where ${id} = ${turn.conversationId} and ${budget ? onceSettled : sql`true`}
    returning ${id}, ${lastSeq}, ${openTurns}`;
}

/**
 * Only what the turn changed: a call's context may have written the rest meanwhile, and then the state stays if that left
 * too little room.
 */
function changedState(changes: SQL): SQL {
  const { state } = conversations;
  const removed = sql`array(select jsonb_array_elements_text(${changes} -> 'removed'))`;
  const changed = sql`select (${state} || (${changes} -> 'set')) - ${removed} as changed`;
  const fits = jsonFits(sql`changed`, stateLimit);
  return sql`(select case when ${fits} then changed else ${state} end from (${changed}) c)`;
}

function storedMessages({ turnId, messageCount, messages: json }: RecordValues): SQL {
  const {
    table,
    row: { position, ...row },
  } = jsonRows(json, "message", messageShape);
  const seq = sql`${conversation.lastSeq} - ${messageCount} + ${position}`;
  const stored = { ...row, search: searchColumn(row.search), conversationId: conversation.id, turnId, seq };
  return sql`${insertInto(messages, stored)} from ${conversation}, ${table}`;
}

function storedCalls({ turnId, calls }: RecordValues): SQL {
  const { table, row } = jsonRows(calls, "call", callShape);
  const expiresAt = sql`case when ${row.status} = 'pending' then now() + ${approvalHours} * interval '1 hour' end`;
  return sql`${insertInto(toolCalls, { ...row, turnId, agentId: turn.agentId, expiresAt })} from ${turn}, ${table}`;
}

function storedHooks({ turnId, hooks }: RecordValues): SQL {
  const { table, row } = jsonRows(hooks, "hook", hookShape);
  return sql`${insertInto(hookExecutions, { ...row, turnId, conversationId: conversation.id })} from ${conversation}, ${table}`;
}

function attachedFiles({ fileIds, askedId }: RecordValues): SQL {
  return sql`
    update ${files} set ${assign(files, { messageId: askedId })} from ${conversation}
    where ${files.conversationId} = ${conversation.id} and ${files.id} = any(${fileIds})`;
}

function enqueuedTitles({ titleDueAt }: RecordValues): SQL {
  const { agentId, organizationId } = turn;
  return sql`${insertInto(jobs, titlesJob({ agentId, organizationId }, titleDueAt))} from ${turn}, ${conversation} ${unlessWaiting}`;
}

function enqueuedWork({ work }: RecordValues): SQL {
  const { table, row } = jsonRows(work, "job", workShape);
  return sql`
    ${insertInto(jobs, { ...row, organizationId: turn.organizationId })} from ${turn}, ${conversation}, ${table}
    ${replaceWaiting}`;
}

/** What a turn leaves. The statement of a turn has no part for what it does not leave: each costs, even for no rows. */
export interface Parts {
  /** Whether budgets may count the turn. Without this part, nothing is written where one does. */
  budget: boolean;
  debug: boolean;
  /** The turn belongs to a stored conversation. */
  conversation: boolean;
  messages: boolean;
  state: boolean;
  calls: boolean;
  hooks: boolean;
  files: boolean;
  work: boolean;
  /** A model is to give the conversation its title. */
  titles: boolean;
  /** The conversation is followed up when it has rested. */
  followUp: boolean;
  /** Rows of a messenger (`Alongside`); nothing is written where newer messages supersede the turn. */
  alongside: boolean;
}

function writeTurn(values: RecordValues, parts: Parts) {
  const superseded = parts.alongside ? isSuperseded(values) : sql<boolean>`false`;
  const row = fields({
    recorded: sql<boolean>`${turn.id} is not null`,
    placed: parts.conversation ? sql<boolean>`${conversation.id} is not null` : sql<boolean>`false`,
    /** A turn whose conversation was deleted meanwhile can't tell. */
    othersWait: parts.conversation ? sql<boolean>`coalesce(${conversation.openTurns} > 0, true)` : sql<boolean>`false`,
    superseded,
  });
  const written = [
    sql`${turn} as (${closedTurn(values, parts, superseded)})`,
    ...(parts.budget ? [settleTokens(turn, values.charged)] : []),
    ...(parts.conversation ? [sql`${conversation} as (${freedConversation(values, parts)})`] : []),
    ...(parts.messages ? [sql`stored as (${storedMessages(values)})`] : []),
    ...(parts.calls ? [sql`called as (${storedCalls(values)})`] : []),
    ...(parts.hooks ? [sql`hooked as (${storedHooks(values)})`] : []),
    ...(parts.files ? [sql`attached as (${attachedFiles(values)})`] : []),
    ...(parts.work ? [sql`work as (${enqueuedWork(values)})`] : []),
    ...(parts.titles ? [sql`titled as (${enqueuedTitles(values)})`] : []),
    ...(parts.alongside ? [sql`answered as (${answeredMessages(values)})`, sql`sent as (${partsToSend(values)})`] : []),
  ];
  const freed = parts.conversation ? sql`left join ${conversation} on true` : sql``;
  return sql<RowOf<typeof row>>`
    with ${sql.join(written, sql`, `)}
    select ${row} from (select) one left join ${turn} on true ${freed}`;
}

/** The one statement after the model: closes the turn, frees the conversation and stores what the turn leaves. */
export const recordStatement = variants((parts: Parts) =>
  statement(valueTypes, (values) => writeTurn(values, parts), { brief: true }),
);

/** Tells of a turn that RECORD found closed whether an earlier RECORD did it, whose answer was lost. */
export const repeatStatement = statement(
  { turnId: "uuid", owner: "uuid", status: "text" },
  ({ turnId, owner, status }) => {
    const settled = sql`${turns.id} = ${turnId} and ${turns.owner} = ${owner} and ${turns.status} = ${status}`;
    const row = fields({ placed: sql<boolean>`exists (select 1 from ${messages} where ${messages.id} = ${turnId})` });
    return sql<RowOf<typeof row>>`select ${row} from ${turns} where ${settled}`;
  },
);

/**
 * A message that is stored after this statement began belongs to the next turn. A message that waits no more was answered
 * by another turn, or its person wants no answer.
 */
function isSuperseded({ turnId, supersededAfter, inboxIds }: RecordValues): SQL<boolean> {
  const newer = sql`${turns.id} = ${turnId} and ${conversations.lastInboxSeq} > ${supersededAfter}`;
  const settled = sql`${inbox.id} = any(${inboxIds}) and ${inbox.status} <> 'pending'`;
  return sql<boolean>`(exists (
    select 1 from ${turns} join ${conversations} on ${conversations.id} = ${turns.conversationId} where ${newer}
  ) or exists (select 1 from ${inbox} where ${settled}))`;
}

function answeredMessages({ turnId, inboxIds }: RecordValues): SQL {
  return sql`
    update ${inbox} set ${assign(inbox, { status: "done", turnId, attempts: sql`${inbox.attempts} + 1` })} from ${turn}
    where ${inbox.id} = any(${inboxIds}) and ${inbox.agentId} = ${turn.agentId}`;
}

function partsToSend({ turnId, sends }: RecordValues): SQL {
  const { table, row } = jsonRows(sends, "part", sendShape);
  const owned = { agentId: turn.agentId, conversationId: conversation.id, turnId };
  // Nothing is said any more in a conversation that was deleted meanwhile.
  return sql`${insertInto(outbox, { ...row, ...owned })} from ${turn}, ${conversation}, ${table}`;
}
