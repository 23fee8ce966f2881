import type { Services } from "../../context/ctx.ts";
import { EngineError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import type { Clock } from "../../core/ports.ts";
import type { TurnOutcome } from "../../turn/types.ts";
import { admit, endingError, type Turn, type TurnRequest, type Turns } from "../turns/index.ts";
import type { Ask, Question } from "./tools.ts";

/** Calls between agents: a call of the tool `agent:<slug>` runs a turn of that agent. */
export function createAsk(services: Services, turns: Turns): Ask {
  const { clock, log, policies } = services;
  return async (question) => {
    const { asker, slug, context } = question;
    const seconds = policies.values.agentCallTimeoutSeconds;
    const limit = new AbortController();
    const cancel = clock.after(seconds * 1000, () =>
      limit.abort(new Error(`The agent ${slug} did not answer within ${seconds} s`)),
    );
    const over = AbortSignal.any([context.signal, limit.signal]);
    try {
      return await Promise.race([converse(turns, clock, question, over), rejectionOf(over)]);
    } catch (error) {
      if (over.aborted) throw over.reason;
      if (error instanceof EngineError && error.code === "not-found") throw error;
      if (!(error instanceof EngineError))
        log.error({ agent: slug, asker: asker.slug, err: error }, "An agent could not ask another one");
      const reason = error instanceof EngineError ? error.message : "Internal server error";
      throw new Error(`The agent ${slug} could not answer: ${reason}`, { cause: error });
    } finally {
      cancel();
    }
  };
}

async function converse(turns: Turns, clock: Clock, question: Question, over: AbortSignal): Promise<string> {
  const { asker, slug, context } = question;
  if (context.origin.depth > 0) throw new EngineError("forbidden", "Who was asked can't ask another agent");
  const by = { type: "agent", asker } as const;
  const { agent } = await turns.agents.serve(slug, async (found) => admit(found, slug, by));
  over.throwIfAborted();
  const request = requestOf(question);
  const { idempotency } = question;
  const repeat = idempotency ? await turns.findRepeat({ agentId: agent.row.id, ref: request.ref }, idempotency) : null;
  if (repeat) return repeat.content;
  const tell = tellHandoff(question, request.ref, () => clock.now());
  // Sends the end event at the timeout, before the tool call ends: later events are not delivered.
  whenOver(over, () => tell(false));
  try {
    const starting = turns.agents.serve(slug, async (agent) => turns.takeTurn(admit(agent, slug, by), request));
    const outcome = await outcomeOf(starting, over);
    const reply = replyOf(outcome);
    tell(true);
    return reply;
  } catch (error) {
    tell(false);
    throw error;
  }
}

/** The request for the called agent's turn, in the one conversation that the agent has for the thread. */
function requestOf({ asker, slug, message, thread, context, idempotency }: Question): TurnRequest {
  const { turnId, toolCallId, requestId = newId() } = context;
  const { subject, userName } = context.origin;
  const channelId = `${asker.slug}:${thread?.id ?? newId()}`;
  return {
    door: "agent",
    origin: {
      channel: "agent",
      channelId,
      source: "user",
      depth: 1,
      subject,
      ...(userName === undefined ? {} : { userName }),
    },
    ref: `${slug}:agent:${channelId}`,
    ...(thread?.parentId == null ? {} : { parentId: thread.parentId }),
    stored: thread !== null,
    input: { history: [], fresh: [message] },
    rule: "always-finish",
    // The same id, so that both agents' turns are found in the log.
    requestId,
    throttle: null,
    ...(turnId === undefined ? {} : { askedBy: { turnId, toolCallId } }),
    ...(idempotency ? { idempotency } : {}),
  };
}

/** Emits the start of a handoff; the returned function emits the end, on its first call only. */
function tellHandoff({ slug, context }: Question, ref: string, now: () => number): (ok: boolean) => void {
  const handoff = { type: "handoff", id: context.toolCallId, agent: slug, conversationId: ref } as const;
  const startedAt = now();
  let ended = false;
  context.emit({ ...handoff, phase: "start" });
  return (ok) => {
    if (ended) return;
    ended = true;
    context.emit({ ...handoff, phase: "end", ok, durationMs: now() - startedAt });
  };
}

/** Awaits the outcome of a turn. When `over` aborts, stops the turn, even if it starts later. */
async function outcomeOf(starting: Promise<Turn>, over: AbortSignal): Promise<TurnOutcome> {
  const turn = await starting;
  whenOver(over, () => turn.abort("stop"));
  return turn.ended;
}

/** The text of a finished turn. Throws an `EngineError` for a turn that failed, was stopped or needs approval. */
function replyOf(outcome: TurnOutcome): string {
  const error = endingError(outcome);
  if (error) throw error;
  if (outcome.status === "approval") {
    throw new EngineError("forbidden", "It needs a person's approval, which nobody can give here");
  }
  return outcome.text;
}

function whenOver(over: AbortSignal, fn: () => void): void {
  if (over.aborted) fn();
  else over.addEventListener("abort", fn, { once: true });
}

function rejectionOf(over: AbortSignal): Promise<never> {
  return new Promise((_, reject) => whenOver(over, () => reject(over.reason)));
}
