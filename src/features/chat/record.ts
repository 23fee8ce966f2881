import type { LanguageModelV4Message } from "@ai-sdk/provider";
import { newId } from "../../core/ids.ts";
import { storable, storableJson } from "../../core/text.ts";
import type { Database } from "../../db/client.ts";
import type { TurnOutcome } from "../../turn/types.ts";
import { extractionOf } from "../memories/index.ts";

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

/** What COMMIT enqueues is what the feature would enqueue itself. */
const extraction = extractionOf("");

const recordStatement = `
  with turn as (
    update turns set status = $3, prompt_tokens = $4, completion_tokens = $5, ttft_ms = $6, duration_ms = $7,
      error_code = $8, finished_at = now(), suspended = $12::jsonb
    where id = $1 and owner = $2 and status in ('queued', 'running')
    returning conversation_id, agent_id
  ), conversation as (
    update conversations c set open_turns = c.open_turns - 1, last_seq = c.last_seq + $9,
      message_count = c.message_count + $9, total_tokens = c.total_tokens + $4 + $5,
      awaiting = case when $3 = 'approval' then $1::uuid else c.awaiting end,
      updated_at = case when $9 > 0 then now() else c.updated_at end
    from turn where c.id = turn.conversation_id
    returning c.id, c.last_seq
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
  ), learning as (
    insert into jobs (id, kind, key, payload)
    select $13::uuid, '${extraction.kind}', $1::text, jsonb_build_object('turnId', $1::text)
    from conversation where $13::uuid is not null
    on conflict do nothing
  )
  select exists (select 1 from turn) as recorded,
    exists (select 1 from turns where id = $1 and owner = $2 and status = $3) as settled`;

/** Who records, and of which turn. */
export interface Recording {
  turnId: string;
  owner: string;
  fresh: readonly string[];
  stored: boolean;
  /** Whether to look for something to remember, in the background. */
  learn: boolean;
  /** Of a turn that goes on after a decision: what it went on from. */
  resumed: Suspended | null;
  outcome: TurnOutcome;
}

/** What a turn that stops for a decision leaves for the one that goes on. */
export interface Suspended {
  messages: readonly LanguageModelV4Message[];
  /** What the user said, which the transcript's limits may hide. */
  fresh: readonly string[];
  /** The turns whose messages these are, the first one first. */
  turnIds: readonly string[];
}

/**
 * The one statement after the model: closes the turn, frees the conversation and stores the messages. Answers false
 * when the turn was no longer this process's: then nothing was written. Calling it again after an answer that was
 * lost does no harm.
 */
export async function record(
  database: Database,
  { turnId, owner, fresh, stored, learn, resumed, outcome }: Recording,
): Promise<boolean> {
  // What became of an approved call is never left unsaid.
  const kept = isKept(outcome) || resumed !== null;
  const rows = stored && kept ? messageRows(turnId, fresh, outcome) : [];
  const { usage } = outcome;
  const [result] = await database.query<{ recorded: boolean; settled: boolean }>(recordStatement, [
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
    outcome.status === "approval" ? storableJson(leftBy(turnId, fresh, resumed, outcome.suspended)) : null,
    learn ? newId() : null,
  ]);
  return result !== undefined && (result.recorded || result.settled);
}

function leftBy(
  turnId: string,
  fresh: readonly string[],
  resumed: Suspended | null,
  messages: Suspended["messages"],
): Suspended {
  return { messages, fresh: resumed?.fresh ?? fresh, turnIds: [...(resumed?.turnIds ?? []), turnId] };
}

/** A turn that ends badly before its first output stores nothing (decisions §5). */
function isKept({ status, produced }: TurnOutcome): boolean {
  return status === "done" || status === "approval" || produced;
}

function messageRows(turnId: string, fresh: readonly string[], outcome: TurnOutcome): MessageRow[] {
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
    metadata: endingMetadata(outcome),
    prompt_tokens: outcome.usage.promptTokens,
    completion_tokens: outcome.usage.completionTokens,
  };
  return [...asked, answer];
}

function endingMetadata(outcome: TurnOutcome): Record<string, unknown> {
  if (outcome.status === "failed") return { error: { code: outcome.failure.code, message: outcome.failure.message } };
  if (outcome.status === "aborted") return { stopped: outcome.reason };
  if (outcome.status === "approval") return { approval: approvalMetadata(outcome) };
  return {};
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

function errorCode(outcome: TurnOutcome): string | null {
  if (outcome.status === "failed") return outcome.failure.code;
  return outcome.status === "aborted" ? outcome.reason : null;
}
