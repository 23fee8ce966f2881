import type { LanguageModelV4Message } from "@ai-sdk/provider";
import { newId } from "../../core/ids.ts";
import { storableJson } from "../../core/text.ts";
import type { Database } from "../../db/client.ts";
import type { TurnOutcome } from "../../turn/types.ts";

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

const recordStatement = `
  with turn as (
    update turns set status = $3, prompt_tokens = $4, completion_tokens = $5, ttft_ms = $6, duration_ms = $7,
      error_code = $8, finished_at = now()
    where id = $1 and owner = $2 and status in ('queued', 'running')
    returning conversation_id
  ), conversation as (
    update conversations c set open_turns = c.open_turns - 1, last_seq = c.last_seq + $9,
      message_count = c.message_count + $9, total_tokens = c.total_tokens + $4 + $5,
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
  )
  select exists (select 1 from turn) as recorded,
    exists (select 1 from turns where id = $1 and owner = $2 and status = $3) as settled`;

/** Who records, and of which turn. */
export interface Recording {
  turnId: string;
  owner: string;
  fresh: readonly string[];
  stored: boolean;
  outcome: TurnOutcome;
}

/**
 * The one statement after the model: closes the turn, frees the conversation and stores the messages. Answers false
 * when the turn was no longer this process's: then nothing was written. Calling it again after an answer that was
 * lost does no harm.
 */
export async function record(
  database: Database,
  { turnId, owner, fresh, stored, outcome }: Recording,
): Promise<boolean> {
  const rows = stored && isKept(outcome) ? messageRows(turnId, fresh, outcome) : [];
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
  ]);
  return result !== undefined && (result.recorded || result.settled);
}

/** A turn that ends badly before its first output stores nothing (decisions §5). */
function isKept({ status, produced }: TurnOutcome): boolean {
  return status === "done" || produced;
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
  return {};
}

function errorCode(outcome: TurnOutcome): string | null {
  if (outcome.status === "failed") return outcome.failure.code;
  return outcome.status === "aborted" ? outcome.reason : null;
}
