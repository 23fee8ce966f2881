import type { Services } from "../../context.ts";
import { EngineError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import type { Clock } from "../../core/ports.ts";
import type { TurnOutcome } from "../../turn/types.ts";
import { admit, endingError, type Turn, type TurnRequest, type Turns } from "../turns/index.ts";
import type { Ask, Question } from "./tools.ts";

/** The door by which agents talk to each other: a turn of the one is a tool of the other. */
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
      throw new Error(`The agent ${slug} could not answer: ${reason}`);
    } finally {
      cancel();
    }
  };
}

async function converse(turns: Turns, clock: Clock, question: Question, over: AbortSignal): Promise<string> {
  const { asker, slug, context } = question;
  if (context.origin.depth > 0) throw new EngineError("forbidden", "Who was asked can't ask another agent");
  const by = { type: "agent", asker } as const;
  await turns.agents.serve(slug, async (agent) => admit(agent, slug, by));
  over.throwIfAborted();
  const request = requestOf(question);
  const tell = tellHandoff(question, request.ref, () => clock.now());
  // Before the call itself is over: nobody hears what is told after that.
  whenOver(over, () => tell(false));
  try {
    const starting = turns.agents.serve(slug, async (agent) => turns.takeTurn(admit(agent, slug, by), request));
    const outcome = await settled(starting, over);
    const reply = replyOf(outcome);
    tell(true);
    return reply;
  } catch (error) {
    tell(false);
    throw error;
  }
}

/** One conversation goes on for each conversation of the asker's and each agent that is asked in it. */
function requestOf({ asker, slug, message, context }: Question): TurnRequest {
  const { origin, conversation } = context;
  const { subject, userName } = origin;
  const channelId = `${asker.slug}:${conversation?.id ?? newId()}`;
  return {
    door: "agent",
    origin: {
      ...{ channel: "agent", channelId, source: "user", depth: 1, subject },
      ...(userName === undefined ? {} : { userName }),
    },
    ref: `${slug}:agent:${channelId}`,
    ...(conversation ? { parentId: conversation.id } : {}),
    stored: conversation !== null,
    input: { history: [], fresh: [message] },
    rule: "always-finish",
    requestId: newId(),
    throttle: null,
  };
}

/** Tells of the beginning at once; what it answers tells of the end, the first time it is called. */
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

/** The end of a turn that is stopped when nobody waits for it any more, even if it gets its place only after that. */
async function settled(starting: Promise<Turn>, over: AbortSignal): Promise<TurnOutcome> {
  const turn = await starting;
  whenOver(over, () => turn.abort("stop"));
  return turn.ended;
}

/** What the agent said. Throws an `EngineError` when it did not get to an end of its own. */
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
