import { newId } from "../../../core/ids.ts";
import type { NamedModel } from "../../../core/models/fallbacks.ts";
import { storable, storableJson } from "../../../core/text/text.ts";
import type { Database } from "../../../db/client.ts";
import { clipExecution } from "../../../turn/hooks.ts";
import { nothingStored, type StoredRows } from "../../../turn/observers.ts";
import type { Origin, TurnOutcome } from "../../../turn/types.ts";
import { searchWords, type TurnDebug } from "../../conversations/index.ts";
import { type Alongside, alongsideValues, superseded } from "../alongside.ts";
import type { Amount } from "../budget/budget.ts";
import type { Aftermath } from "../follow-up/aftermath.ts";
import type { Suspended } from "../request.ts";
import {
  type CallRow,
  type HookRow,
  type MessageRow,
  recordAll,
  recordMessages,
  recordMessenger,
  recordUnstored,
  repeatStatement,
} from "./record-statement.ts";

/** A turn to record. */
export interface Recording {
  turnId: string;
  owner: string;
  origin: Origin;
  fresh: readonly string[];
  /** Files of the new messages. */
  fileIds: readonly string[];
  stored: boolean;
  /** Whether the caller gets the reply only once it is recorded. */
  whole: boolean;
  aftermath: Aftermath;
  /** The provider's count of the prompt; null without one. */
  measured: { contextTokens: number; bytesPerToken: number } | null;
  /** What the turn took, for the budgets that count it. */
  charged: Amount;
  /** What the turn cost; null: unknown. */
  costMicros: number | null;
  /** How the turn came to its reply; null unless the agent is being debugged. */
  debug: TurnDebug | null;
  /** The suspended turn that this one continues; null for other turns. */
  continued: Suspended | null;
  outcome: TurnOutcome;
  /** The model that replaces the agent's; undefined: the agent's. */
  model: string | undefined;
  /** Messenger rows; null for none. */
  alongside: Alongside | null;
}

interface Recorded {
  /** Whether clients can read the reply by the turn's id. */
  replyKept: boolean;
  /** Whether other turns of the conversation are queued. */
  othersWait: boolean;
  /** Whether newer messages superseded the turn, so that nothing of it is stored. */
  wasSuperseded: boolean;
  stored: StoredRows;
}

/**
 * Records a turn by RECORD: closes it, frees the conversation and stores the messages. Returns whether its reply is
 * stored; null when this process no longer held the turn and nothing was written. May be called again after a lost
 * response.
 */
export async function record(database: Database, recording: Recording): Promise<Recorded | null> {
  const { turnId, owner, stored, outcome, continued, alongside } = recording;
  // The result of an approved call is always stored.
  const said = !alongside?.discarded && (isKept(recording) || continued !== null);
  const kept = stored && said;
  const rows = { messages: kept ? messageRows(recording) : [], hooks: kept ? hookRows(outcome) : [] };
  const [result] = await write(database, recording, valuesOf(recording, rows, kept));
  if (result?.recorded) {
    // The conversation may have been deleted meanwhile. A turn without one has a reply with an id all the same.
    const known = { replyKept: said && (!stored || result.placed), othersWait: result.othersWait };
    return { ...known, wasSuperseded: false, stored: result.placed ? idsOf(rows) : nothingStored };
  }
  const [before] = await repeatStatement.run(database, { turnId, owner, status: outcome.status });
  if (before) {
    const known = { replyKept: said && (!stored || before.placed), othersWait: stored, wasSuperseded: false };
    // An earlier RECORD stored the other rows, under its own ids.
    return { ...known, stored: { messageIds: before.placed ? [turnId] : [], hookExecutionIds: [] } };
  }
  return result?.superseded ? recordSuperseded(database, recording) : null;
}

/** The rows that a turn adds to its conversation. */
interface Rows {
  messages: readonly MessageRow[];
  hooks: readonly HookRow[];
}

const idsOf = ({ messages, hooks }: Rows): StoredRows => ({
  messageIds: messages.map(({ id }) => id),
  hookExecutionIds: hooks.map(({ id }) => id),
});

/** The statement's values. `kept`: the conversation stores the rows. Null: the turn has no such rows. */
function valuesOf(recording: Recording, { messages: rows, hooks }: Rows, kept: boolean) {
  const { turnId, owner, fileIds, aftermath, measured, charged, costMicros, debug, outcome } = recording;
  const { usage } = outcome;
  const answeredBy = outcome.answered.at(-1)?.model;
  const left = outcome.status === "approval" ? leftBy(recording, outcome) : null;
  return {
    turnId,
    owner,
    status: outcome.status,
    provider: answeredBy?.provider ?? null,
    model: answeredBy?.model ?? null,
    promptTokens: usage.promptTokens,
    completionTokens: usage.completionTokens,
    costMicros,
    ttftMs: outcome.firstOutputMs,
    durationMs: outcome.durationMs,
    errorCode: errorCode(outcome),
    suspended: left && storableJson(left),
    // A stored turn has its hooks in rows of their own; an unstored one changes no state.
    debug: debug && storableJson({ ...debug, ...(kept ? { hooks: [] } : { stateChanges: null }) }),
    charged: charged.tokens,
    chargedCost: charged.cost,
    contextTokens: measured?.contextTokens ?? null,
    bytesPerToken: measured?.bytesPerToken ?? null,
    stateChanges: kept && outcome.state ? storableJson(outcome.state) : null,
    messageCount: rows.length,
    messages: jsonOf(rows),
    calls: jsonOf(callRows(outcome)),
    hooks: jsonOf(hooks),
    titleDueAt: kept ? aftermath.titleDueAt : null,
    followUpDueAt: kept ? aftermath.followUpDueAt : null,
    title: kept && aftermath.title !== null ? storable(aftermath.title) : null,
    learnable: !kept || aftermath.learnable,
    fileIds: rows.length > 1 && fileIds.length > 0 ? fileIds : null,
    askedId: rows.at(-2)?.id ?? null,
  };
}

const jsonOf = (rows: readonly unknown[]) => (rows.length === 0 ? null : storableJson(rows));

/** Runs the shortest statement that writes everything the turn stores. */
function write(database: Database, { alongside, stored }: Recording, values: ReturnType<typeof valuesOf>) {
  if (alongside) return recordMessenger.run(database, { ...values, ...alongsideValues(alongside) });
  if (!stored) return recordUnstored.run(database, values);
  const { calls, hooks, fileIds, stateChanges, titleDueAt } = values;
  const more = calls ?? hooks ?? fileIds ?? stateChanges ?? titleDueAt;
  return (more === null ? recordMessages : recordAll).run(database, values);
}

/** Closes a superseded turn; only its row is stored. */
async function recordSuperseded(database: Database, recording: Recording): Promise<Recorded | null> {
  const outcome = superseded(recording.outcome);
  const aftermath = { ...recording.aftermath, titleDueAt: null, followUpDueAt: null };
  const recorded = await record(database, { ...recording, outcome, aftermath, continued: null, alongside: null });
  return recorded && { ...recorded, wasSuperseded: true };
}

function leftBy(
  { turnId, origin: { source, userName }, fresh, fileIds, continued, model }: Recording,
  { suspended, context, answered }: Extract<TurnOutcome, { status: "approval" }>,
): Suspended {
  const answeredBy = answered.at(-1)?.model;
  return {
    messages: suspended,
    fresh: continued?.fresh ?? fresh,
    fileIds: continued?.fileIds ?? fileIds,
    from: { source, ...(userName === undefined ? {} : { userName }) },
    turnIds: [...(continued?.turnIds ?? []), turnId],
    ...(context === null ? {} : { context }),
    ...(answeredBy ? { answeredBy } : {}),
    ...(model === undefined ? {} : { model }),
  };
}

/**
 * Whether the turn's messages are stored: not after a failure before the first output, not when superseded (decisions
 * §5, §8), and not when a stop cut a reply of which the caller has read nothing, since the caller asks again.
 */
function isKept({ outcome, whole }: Recording): boolean {
  if (outcome.status === "aborted" && outcome.reason === "superseded") return false;
  if (outcome.status === "aborted" && outcome.reason === "shutdown" && whole) return false;
  return outcome.status === "done" || outcome.status === "approval" || outcome.produced;
}

function messageRows({ turnId, fresh, outcome }: Recording): MessageRow[] {
  const blank = {
    reasoning: null,
    steps: [],
    modelMessages: null,
    metadata: {},
    promptTokens: 0,
    completionTokens: 0,
  };
  const asked = fresh.map(
    (content, index): MessageRow => ({
      ...blank,
      id: newId(),
      position: index + 1,
      role: "user",
      content,
      search: searchWords(content),
    }),
  );
  const answer: MessageRow = {
    id: turnId,
    position: asked.length + 1,
    role: "assistant",
    content: outcome.text,
    search: searchWords(outcome.text),
    reasoning: outcome.reasoning === "" ? null : outcome.reasoning,
    steps: outcome.steps,
    modelMessages: outcome.messages,
    metadata: { ...endingMetadata(outcome), ...modelMetadata(outcome) },
    promptTokens: outcome.usage.promptTokens,
    completionTokens: outcome.usage.completionTokens,
  };
  return [...asked, answer];
}

function endingMetadata(outcome: TurnOutcome): Record<string, unknown> {
  if (outcome.status === "failed") return { error: { code: outcome.failure.code, message: outcome.failure.message } };
  if (outcome.status === "aborted") return { stopped: outcome.reason };
  if (outcome.status === "approval") return { approval: approvalMetadata(outcome), ...servedBy(outcome) };
  return servedBy(outcome);
}

/** The models of the steps; nothing for a turn without connections. */
function modelMetadata({ answered }: TurnOutcome): { model?: (NamedModel & { step: number })[] } {
  if (answered.every(({ model }) => model.connectionId === null)) return {};
  return { model: answered.map(({ step, model }) => ({ step, ...model })) };
}

/** The id of the hook whose text replaced the reply; empty when the model wrote it (spec, the event `done`). */
export function servedBy({ replacedBy }: TurnOutcome): { hookId?: string } {
  return replacedBy === null ? {} : { hookId: replacedBy };
}

/** The metadata of a stopped turn: its first waiting call, and all waiting calls. */
export function approvalMetadata({ pending }: Extract<TurnOutcome, { status: "approval" }>) {
  const toolCallIds = pending.map(({ toolCallId }) => toolCallId);
  return { toolCallId: toolCallIds[0] ?? null, toolCallIds };
}

/** A call that nobody may decide is stored as refused. */
function statusOf({ ok, withheld }: TurnOutcome["calls"][number]): CallRow["status"] {
  if (withheld) return withheld === "expired" ? "expired" : "refused";
  return ok ? "executed" : "failed";
}

/** One row for each call id. If a model gave several calls the same id, a waiting call wins. */
function callRows(outcome: TurnOutcome): CallRow[] {
  const rows = outcome.calls.map(
    (call): CallRow => ({
      id: newId(),
      toolCallId: call.toolCallId,
      name: call.toolName,
      args: null,
      status: statusOf(call),
      durationMs: call.durationMs,
    }),
  );
  const waiting = outcome.status === "approval" ? outcome.pending : [];
  const pending = waiting.map(
    (call): CallRow => ({
      id: newId(),
      toolCallId: call.toolCallId,
      name: call.toolName,
      args: call,
      status: "pending",
      durationMs: null,
    }),
  );
  return [...new Map([...rows, ...pending].map((row) => [storable(row.toolCallId), row])).values()];
}

function hookRows({ hooks }: TurnOutcome): HookRow[] {
  return hooks.map((execution, position) => ({ ...clipExecution(execution), id: newId(), position }));
}

function errorCode(outcome: TurnOutcome): string | null {
  if (outcome.status === "failed") return outcome.failure.code;
  return outcome.status === "aborted" ? outcome.reason : null;
}
