import type { LanguageModelV4Message } from "@ai-sdk/provider";
import { newId } from "../../../core/ids.ts";
import { storable, storableJson } from "../../../core/text.ts";
import { writeArray } from "../../../db/arrays.ts";
import type { Database } from "../../../db/client.ts";
import { jsonFits } from "../../../db/json.ts";
import { replaceWaiting } from "../../../jobs/enqueue.ts";
import { stateLimit } from "../../../turn/state.ts";
import type { Origin, TurnOutcome } from "../../../turn/types.ts";
import { onceSettled, settleTokens } from "../budget/budget.ts";

interface MessageRow {
  id: string;
  position: number;
  role: "user" | "assistant";
  content: string;
  reasoning: string | null;
  steps: unknown[];
  model_messages: LanguageModelV4Message[] | null;
  metadata: Record<string, unknown>;
  prompt_tokens: number;
  completion_tokens: number;
}

/** How long a person may take to decide about a call (decisions §7). */
const approvalHours = 24;

const changedState = `(c.state || ($14::jsonb -> 'set')) - array(select jsonb_array_elements_text($14::jsonb -> 'removed'))`;

const recordStatement = `
  with turn as (
    update turns set status = $3, prompt_tokens = $4, completion_tokens = $5, ttft_ms = $6, duration_ms = $7,
      error_code = $8, finished_at = now(), suspended = $12::jsonb,
      -- What went wrong may be asked for again with the same key.
      idempotency_key = case when $3 in ('done', 'approval') then idempotency_key end
    where id = $1 and owner = $2 and status in ('queued', 'running')
    returning conversation_id, agent_id, organization_id, reserved,
      -- One that began before there was a budget counts as well, if there is one now.
      coalesce(budget_month, date_trunc('month', created_at at time zone 'UTC')::date) as budget_month
  ), settled as (
    ${settleTokens("turn", "$18::int")}
  ), conversation as (
    update conversations c set open_turns = c.open_turns - 1, last_seq = c.last_seq + $9,
      message_count = c.message_count + $9, total_tokens = c.total_tokens + $4 + $5,
      awaiting = case when $3 = 'approval' then $1::uuid else c.awaiting end,
      updated_at = case when $9 > 0 then now() else c.updated_at end,
      -- Only what the turn changed: a call's context may have written the rest meanwhile, and has left too little room then.
      state = case when $14::jsonb is null then c.state
        when ${jsonFits(changedState, stateLimit)} then ${changedState}
        else c.state end,
      context_tokens = coalesce($15::int, c.context_tokens),
      bytes_per_token = coalesce($16::real, c.bytes_per_token)
    from turn where c.id = turn.conversation_id and ${onceSettled}
    returning c.id, c.last_seq, c.open_turns
  ), stored as (
    insert into messages (id, conversation_id, turn_id, seq, role, content, reasoning, steps, model_messages, metadata,
      prompt_tokens, completion_tokens)
    select m.id, c.id, $1, c.last_seq - $9 + m.position, m.role, m.content, m.reasoning, m.steps, m.model_messages,
      m.metadata, m.prompt_tokens, m.completion_tokens
    from conversation c, jsonb_to_recordset($10::jsonb) as m(id uuid, position int, role text, content text,
      reasoning text, steps jsonb, model_messages jsonb, metadata jsonb, prompt_tokens int, completion_tokens int)
  ), called as (
    insert into tool_calls (id, turn_id, agent_id, tool_call_id, name, args, status, duration_ms, expires_at)
    select k.id, $1, turn.agent_id, k.tool_call_id, k.name, k.args, k.status, k.duration_ms,
      case when k.status = 'pending' then now() + interval '${approvalHours} hours' end
    from turn, jsonb_to_recordset($11::jsonb) as k(id uuid, tool_call_id text, name text, args jsonb, status text,
      duration_ms int)
  ), hooked as (
    insert into hook_executions (id, conversation_id, turn_id, hook_id, position, event, tool_name, success, error,
      duration_ms, args, result)
    select h.id, c.id, $1, h.hook_id, h.position, h.event, h.tool_name, h.success, h.error, h.duration_ms, h.args,
      h.result
    from conversation c, jsonb_to_recordset($17::jsonb) as h(id uuid, hook_id uuid, position int, event text,
      tool_name text, success boolean, error text, duration_ms int, args jsonb, result jsonb)
  ), attached as (
    update files f set message_id = $20::uuid from conversation c where f.conversation_id = c.id and f.id = any($19::uuid[])
  ), work as (
    insert into jobs (id, kind, key, organization_id, payload, run_at)
    select j.id, j.kind, j.key, turn.organization_id, j.payload, j.run_at
    from turn, conversation, jsonb_to_recordset($13::jsonb) as j(id uuid, kind text, key text, payload jsonb, run_at timestamptz)
    ${replaceWaiting}
  )
  select exists (select 1 from turn) as recorded,
    exists (select 1 from turns where id = $1 and owner = $2 and status = $3) as settled,
    exists (select 1 from conversation) or exists (select 1 from messages where id = $1) as placed,
    coalesce((select open_turns > 0 from conversation), true) as others_wait`;

/** Who records, and of which turn. */
export interface Recording {
  turnId: string;
  owner: string;
  origin: Origin;
  fresh: readonly string[];
  /** Files that came with it. */
  fileIds: readonly string[];
  stored: boolean;
  /** What is to be done in the background once it is stored. */
  work: readonly Work[];
  /** What the provider's count of the prompt says about the conversation; null when it says nothing. */
  measured: { contextTokens: number; bytesPerToken: number } | null;
  /** Tokens that it took of the agent's budget. */
  charged: number;
  /** Shown beside the answer while the agent is being debugged. */
  debug: Record<string, unknown> | null;
  /** Of a turn that goes on after a decision: what it went on from. */
  continued: Suspended | null;
  outcome: TurnOutcome;
}

/** A job to enqueue with the turn. */
export interface Work {
  kind: string;
  key: string;
  payload: Readonly<Record<string, unknown>>;
  runAt: Date;
}

/** What a turn that stops for a decision leaves for the one that goes on. */
export interface Suspended {
  messages: readonly LanguageModelV4Message[];
  /** What the user said, which the transcript's limits may hide. */
  fresh: readonly string[];
  fileIds?: readonly string[];
  /** Where it came from, as far as the conversation does not say. */
  from?: Pick<Origin, "source" | "userName">;
  /** The turns whose messages these are, the first one first. */
  turnIds: readonly string[];
  /** What the model was told before that. */
  context?: string;
}

/**
 * The one statement after the model: closes the turn, frees the conversation and stores the messages. Answers whether
 * its reply is kept, and null when the turn was no longer this process's: then nothing was written. Calling it again
 * after an answer that was lost does no harm.
 */
export async function record(
  database: Database,
  { turnId, owner, origin, fresh, fileIds, stored, work, measured, charged, debug, continued, outcome }: Recording,
): Promise<{ replyKept: boolean; othersWait: boolean } | null> {
  // What became of an approved call is never left unsaid.
  const said = isKept(outcome) || continued !== null;
  const kept = stored && said;
  const rows = kept ? messageRows(turnId, fresh, outcome, debug) : [];
  const { usage } = outcome;
  const [result] = await database.query<{ recorded: boolean; settled: boolean; placed: boolean; others_wait: boolean }>(
    recordStatement,
    [
      turnId,
      owner,
      outcome.status,
      usage.promptTokens,
      usage.completionTokens,
      outcome.firstOutputMs,
      outcome.durationMs,
      errorCode(outcome),
      rows.length,
      storableJson(rows),
      storableJson(callRows(outcome)),
      outcome.status === "approval"
        ? storableJson(leftBy(turnId, { origin, fresh, fileIds }, continued, outcome))
        : null,
      storableJson(kept ? work.map(({ runAt, ...job }) => ({ ...job, id: newId(), run_at: runAt })) : []),
      kept && outcome.state ? storableJson(outcome.state) : null,
      measured?.contextTokens ?? null,
      measured?.bytesPerToken ?? null,
      storableJson(kept ? hookRows(outcome) : []),
      charged,
      writeArray(rows.length > 1 ? fileIds : []),
      rows.at(-2)?.id ?? null,
    ],
  );
  if (!result?.recorded && !result?.settled) return null;
  // Its conversation may have been deleted meanwhile; one that was to be stored nowhere has an id all the same.
  return { replyKept: said && (!stored || result.placed), othersWait: stored && result.others_wait };
}

function leftBy(
  turnId: string,
  { origin: { source, userName }, fresh, fileIds }: Pick<Recording, "origin" | "fresh" | "fileIds">,
  continued: Suspended | null,
  { suspended, context }: Extract<TurnOutcome, { status: "approval" }>,
): Suspended {
  return {
    messages: suspended,
    fresh: continued?.fresh ?? fresh,
    fileIds: continued?.fileIds ?? fileIds,
    from: { source, ...(userName === undefined ? {} : { userName }) },
    turnIds: [...(continued?.turnIds ?? []), turnId],
    ...(context === null ? {} : { context }),
  };
}

/** A turn that ends badly before its first output, or that newer messages supersede, stores nothing (decisions §5, §8). */
function isKept(outcome: TurnOutcome): boolean {
  if (outcome.status === "aborted" && outcome.reason === "superseded") return false;
  return outcome.status === "done" || outcome.status === "approval" || outcome.produced;
}

function messageRows(
  turnId: string,
  fresh: readonly string[],
  outcome: TurnOutcome,
  debug: Recording["debug"],
): MessageRow[] {
  const blank = {
    reasoning: null,
    steps: [],
    model_messages: null,
    metadata: {},
    prompt_tokens: 0,
    completion_tokens: 0,
  };
  const asked = fresh.map(
    (content, index): MessageRow => ({ ...blank, id: newId(), position: index + 1, role: "user", content }),
  );
  const answer: MessageRow = {
    id: turnId,
    position: asked.length + 1,
    role: "assistant",
    content: outcome.text,
    reasoning: outcome.reasoning === "" ? null : outcome.reasoning,
    steps: outcome.steps,
    model_messages: outcome.messages,
    metadata: { ...endingMetadata(outcome), ...(debug ? { debug } : {}) },
    prompt_tokens: outcome.usage.promptTokens,
    completion_tokens: outcome.usage.completionTokens,
  };
  return [...asked, answer];
}

function endingMetadata(outcome: TurnOutcome): Record<string, unknown> {
  if (outcome.status === "failed") return { error: { code: outcome.failure.code, message: outcome.failure.message } };
  if (outcome.status === "aborted") return { stopped: outcome.reason };
  if (outcome.status === "approval") return { approval: approvalMetadata(outcome), ...servedBy(outcome) };
  return servedBy(outcome);
}

/** Whose words a reply is, when it is not the model's (spec, the event `done`). */
export function servedBy({ replacedBy }: TurnOutcome): { hookId?: string } {
  return replacedBy === null ? {} : { hookId: replacedBy };
}

/** Where a turn stopped: the first call that waits, and all of them. */
export function approvalMetadata({ pending }: Extract<TurnOutcome, { status: "approval" }>) {
  const toolCallIds = pending.map(({ toolCallId }) => toolCallId);
  return { toolCallId: toolCallIds[0] ?? null, toolCallIds };
}

interface CallRow {
  id: string;
  tool_call_id: string;
  name: string;
  args: unknown;
  status: "executed" | "failed" | "pending";
  duration_ms: number | null;
}

/** A row for each call; some models call every call the same, and then the one that waits counts. */
function callRows(outcome: TurnOutcome): CallRow[] {
  const rows = outcome.calls.map(
    ({ toolCallId, toolName, ok, durationMs }): CallRow => ({
      id: newId(),
      tool_call_id: toolCallId,
      name: toolName,
      args: null,
      status: ok ? "executed" : "failed",
      duration_ms: durationMs,
    }),
  );
  const waiting = outcome.status === "approval" ? outcome.pending : [];
  const pending = waiting.map(
    (call): CallRow => ({
      id: newId(),
      tool_call_id: call.toolCallId,
      name: call.toolName,
      args: call,
      status: "pending",
      duration_ms: null,
    }),
  );
  return [...new Map([...rows, ...pending].map((row) => [storable(row.tool_call_id), row])).values()];
}

function hookRows({ hooks }: TurnOutcome) {
  return hooks.map(({ hookId, event, toolName, success, error, durationMs, args, result }, position) => ({
    ...{ id: newId(), hook_id: hookId, position, event, tool_name: toolName },
    ...{ success, error, duration_ms: durationMs, args, result },
  }));
}

function errorCode(outcome: TurnOutcome): string | null {
  if (outcome.status === "failed") return outcome.failure.code;
  return outcome.status === "aborted" ? outcome.reason : null;
}
