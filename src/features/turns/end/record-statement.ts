import { type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import { assign, fields, insertInto, type JsonRow, jsonFits, jsonRows, type RowOf } from "../../../db/fragments.ts";
import { conversations, files, hookExecutions, jobs, messages, toolCalls, turns } from "../../../db/schema.ts";
import { statement, type Values } from "../../../db/statement.ts";
import { unlessWaiting } from "../../../jobs/enqueue.ts";
import { stateLimit } from "../../../turn/state.ts";
import { searchColumn, withExtracted } from "../../conversations/index.ts";
import { alongsideParts, alongsideTypes, isSuperseded } from "../alongside.ts";
import { onceSettled, settleTurn } from "../budget/settle.ts";
import { titlesJob } from "../follow-up/due.ts";
import { closedTurn, closedTypes } from "./closed-turn.ts";

// RECORD is the one statement after the model: it closes the turn, frees the conversation and stores the reply. A turn
// runs one of four variants. Each part of a statement costs time, even for no rows: the parts that few turns need would
// make each turn a tenth slower.

const valueTypes = {
  ...closedTypes,
  charged: "int",
  chargedCost: "bigint",
  contextTokens: "int | null",
  bytesPerToken: "real | null",
  stateChanges: "jsonb | null",
  messages: "jsonb | null",
  calls: "jsonb | null",
  hooks: "jsonb | null",
  titleDueAt: "timestamptz | null",
  followUpDueAt: "timestamptz | null",
  /** The title of an untitled conversation. */
  title: "text | null",
  learnable: "boolean",
  fileIds: "uuid[] | null",
  /** The id of the user's message to which the files belong. */
  askedId: "uuid | null",
} as const;

type RecordValues = Values<typeof valueTypes>;

/** A row of RECORD. */
interface RecordedRow {
  /** Whether anything was written. */
  recorded: boolean;
  /** Whether the conversation still exists, and with it the stored messages. */
  placed: boolean;
  othersWait: boolean;
  /** Whether newer messages supersede a messenger's turn. */
  superseded: boolean;
}

/** The tables that the statements' parts define. */
const turn = alias(turns, "turn");
const conversation = alias(conversations, "conversation");

/** If the conversation was deleted meanwhile, other turns are assumed to wait. */
const placed = sql`${conversation.id} is not null as placed, coalesce(${conversation.openTurns} > 0, true) as "othersWait"`;

/** For a turn without a stored conversation. */
export const recordUnstored = statement(
  valueTypes,
  (values) => sql<RecordedRow>`
    with ${turn} as (${closedTurn(values)}),
    ${settleTurn(turn, { tokens: values.charged, cost: values.chargedCost })},
    called as (${storedCalls(values)})
    select true as recorded, false as placed, false as "othersWait", false as superseded from ${turn}`,
  { brief: true },
);

/** For a turn of a conversation that stores messages and nothing else. */
export const recordMessages = statement(
  valueTypes,
  (values) => sql<RecordedRow>`
    with ${turn} as (${closedTurn(values)}),
    ${settleTurn(turn, { tokens: values.charged, cost: values.chargedCost })},
    ${conversation} as (${freedConversation(values)}),
    stored as (${storedMessages(values)})
    select true as recorded, ${placed}, false as superseded from ${turn} left join ${conversation} on true`,
  { brief: true },
);

/** For any turn of a conversation. */
export const recordAll = statement(
  valueTypes,
  (values) => sql<RecordedRow>`
    with ${turn} as (${closedTurn(values)}),
    ${allParts(values)}
    select true as recorded, ${placed}, false as superseded from ${turn} left join ${conversation} on true`,
  { brief: true },
);

/** For a turn with rows of a messenger. Unless newer messages supersede the turn, they are written together with it. */
export const recordMessenger = statement(
  { ...valueTypes, ...alongsideTypes },
  (values) => sql<RecordedRow>`
    with superseded as (select ${isSuperseded(values)} as yes),
    ${turn} as (${closedTurn(values, sql`not (select yes from superseded)`)}),
    ${allParts(values)},
    ${alongsideParts(values, { turn, conversation })}
    select ${turn.id} is not null as recorded, ${placed}, superseded.yes as superseded
    from superseded left join ${turn} on true left join ${conversation} on true`,
  { brief: true },
);

/** The parts that store everything a turn may leave in its conversation, after the turn itself. */
const allParts = (values: RecordValues) => sql`
    ${settleTurn(turn, { tokens: values.charged, cost: values.chargedCost })},
    ${conversation} as (${freedConversation(values, stateAndTitle(values))}),
    stored as (${storedMessages(values)}),
    called as (${storedCalls(values)}),
    hooked as (${storedHooks(values)}),
    attached as (${attachedFiles(values)}),
    titled as (${enqueuedTitles(values)})`;

/** Finds out, for a turn that RECORD found closed, whether an earlier RECORD closed it whose answer was lost. */
export const repeatStatement = statement(
  { turnId: "uuid", owner: "uuid", status: "text" },
  ({ turnId, owner, status }) => {
    const settled = sql`${turns.id} = ${turnId} and ${turns.owner} = ${owner} and ${turns.status} = ${status}`;
    const row = fields({ placed: sql<boolean>`exists (select 1 from ${messages} where ${messages.id} = ${turnId})` });
    return sql<RowOf<typeof row>>`select ${row} from ${turns} where ${settled}`;
  },
);

/** Frees the conversation for its next turn. */
function freedConversation(
  { turnId, status, messageCount, promptTokens, completionTokens, ...values }: RecordValues,
  more: { state?: SQL; titleDueAt?: SQL } = {},
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
    contextTokens: sql`coalesce(${values.contextTokens}, ${contextTokens})`,
    bytesPerToken: sql`coalesce(${values.bytesPerToken}, ${bytesPerToken})`,
    title: sql`coalesce(${conversations.title}, ${values.title})`,
    // Messages sent while learning is off are never learned.
    metadata: sql`case when ${values.learnable} then ${conversations.metadata} else ${read} end`,
    followUpDueAt: sql`coalesce(${values.followUpDueAt}, ${conversations.followUpDueAt})`,
    ...more,
  };
  return sql`
    update ${conversations} set ${assign(conversations, changed)}
    from ${turn} where ${id} = ${turn.conversationId} and ${onceSettled}
    returning ${id}, ${lastSeq}, ${openTurns}`;
}

const stateAndTitle = ({ stateChanges, titleDueAt }: RecordValues) => ({
  state: changedState(stateChanges),
  titleDueAt: sql`coalesce(${titleDueAt}, ${conversations.titleDueAt})`,
});

/**
 * Changes only the keys that the turn changed, since a request's context may have written others meanwhile. The state
 * stays unchanged if those left too little room.
 */
function changedState(changes: SQL): SQL {
  const { state } = conversations;
  const removed = sql`array(select jsonb_array_elements_text(${changes} -> 'removed'))`;
  const changed = sql`select (${state} || (${changes} -> 'set')) - ${removed} as changed`;
  const fits = jsonFits(sql`changed`, stateLimit);
  return sql`case when ${changes} is null then ${state}
    else (select case when ${fits} then changed else ${state} end from (${changed}) c) end`;
}

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

function storedMessages({ turnId, messageCount, messages: json }: RecordValues): SQL {
  const {
    table,
    row: { position, ...row },
  } = jsonRows(json, "message", messageShape);
  const seq = sql`${conversation.lastSeq} - ${messageCount} + ${position}`;
  const stored = { ...row, search: searchColumn(row.search), conversationId: conversation.id, turnId, seq };
  return sql`${insertInto(messages, stored)} from ${conversation}, ${table}`;
}

/** How long a person may take to decide about a call (decisions §7). */
const approvalHours = 24;

const callShape = {
  id: toolCalls.id,
  toolCallId: toolCalls.toolCallId,
  name: toolCalls.name,
  args: toolCalls.args,
  status: toolCalls.status,
  durationMs: toolCalls.durationMs,
} as const;

export type CallRow = JsonRow<typeof callShape>;

function storedCalls({ turnId, calls }: RecordValues): SQL {
  const { table, row } = jsonRows(calls, "call", callShape);
  const expiresAt = sql`case when ${row.status} = 'pending' then now() + ${approvalHours} * interval '1 hour' end`;
  return sql`${insertInto(toolCalls, { ...row, turnId, agentId: turn.agentId, expiresAt })} from ${turn}, ${table}`;
}

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
  return sql`
    ${insertInto(jobs, titlesJob({ agentId, organizationId }, titleDueAt))} from ${turn}, ${conversation}
    where ${titleDueAt} is not null ${unlessWaiting}`;
}
