import { channels } from "../../core/channels/channels.ts";
import type { Policies } from "../../core/policies.ts";
import type { TurnModels } from "../../turn/models.ts";
import { hasContent, withoutReasoning } from "../../turn/prompt.ts";
import { TurnState } from "../../turn/state.ts";
import type { Continuation, Hook, Limits, ModelMessage, Origin, TurnInput } from "../../turn/types.ts";
import type { LiveAgent } from "./agent/load.ts";
import type { StoredMessage, Transcript } from "./place/history.ts";
import type { TurnRequest } from "./request.ts";

interface Preparation {
  turnId: string;
  agent: LiveAgent;
  request: TurnRequest;
  /** Null when only the turn's row is stored. */
  conversation: TurnInput["conversation"];
  /** The conversation as stored. */
  transcript: Transcript;
  policies: Policies;
  /** Milliseconds since the epoch. */
  now: number;
  /** The memories of the user, as lines; empty for none. */
  memories: string;
  models: TurnModels;
  images: NonNullable<TurnInput["images"]>;
  continued: Continuation | null;
  reserve: TurnInput["reserve"];
}

/** Builds the input of a turn from the agent, the request, the transcript and the current policies. No I/O. */
export function prepare({
  agent,
  request,
  conversation,
  transcript,
  policies,
  now,
  memories,
  ...rest
}: Preparation): TurnInput {
  const { row, prompt, datetime, scrub } = agent;
  const { origin, input } = request;
  const state = new TurnState(transcript.state);
  // A request without history begins its conversation when that is not stored.
  const begins = conversation ? transcript.begins || isOnlySent(transcript) : input.history.length === 0;
  const system = prompt({
    datetime: datetime(now),
    userName: origin.userName ?? "",
    memories,
    state: row.stateInPromptEnabled ? stateLines(state) : "",
  });
  return {
    ...rest,
    requestId: request.requestId,
    conversation,
    conversationRef: request.ref,
    origin,
    agent: { id: row.id, slug: row.slug, name: row.name },
    settings: {
      thinking: row.thinkingEnabled,
      ...(row.temperature === null ? {} : { temperature: row.temperature }),
      ...(row.maxOutputTokens === null ? {} : { maxOutputTokens: row.maxOutputTokens }),
    },
    system: system.text,
    stable: system.stable,
    history: conversation ? replay(earlier(transcript.history, request)) : input.history,
    fresh: request.continued?.suspended.fresh ?? input.fresh,
    tools: toolsAt(agent, request),
    hooks: hooksAt(agent, origin).filter(({ event }) => begins || event !== "conversation_start"),
    limits: limitsOf(policies, row.maxSteps),
    state,
    scrub,
  };
}

/**
 * The transcript without the messages that the request hides, and without the continued turns, which `continued` contains.
 */
function earlier(stored: readonly StoredMessage[], { continued, historyAfter = 0 }: TurnRequest): StoredMessage[] {
  const own = new Set(continued?.suspended.turnIds);
  return stored.filter(({ turnId, seq }) => seq > historyAfter && (turnId === null || !own.has(turnId)));
}

/** The limits of a turn. Models may think or load in silence: `silenceMs` is half of `turnMs`, at least a minute. */
export function limitsOf({ modelTimeoutSeconds, toolTimeoutSeconds }: Policies, maxSteps: number): Limits {
  const turnMs = modelTimeoutSeconds * 1000;
  const silenceMs = Math.max(60_000, turnMs / 2);
  return { connectMs: silenceMs, silenceMs, turnMs, toolMs: toolTimeoutSeconds * 1000, maxSteps };
}

/** The hooks that run within a turn of a channel. */
export function hooksAt({ hooks }: LiveAgent, { channel }: Origin): readonly Hook[] {
  const traits = channels[channel];
  if (!traits.hooks) return [];
  return traits.sendsLater ? hooks.filter(({ event }) => event !== "response_sent") : hooks;
}

/**
 * The tools of a turn. An agent that another agent called gets no `agent:` tools (spec "Limits"), and can't schedule
 * tasks, since its turn has no end user.
 */
function toolsAt({ tools }: LiveAgent, { origin, tools: own = [] }: TurnRequest): TurnInput["tools"] {
  if (origin.depth > 0) return new Map([...tools].filter(([, { name }]) => !isForPeople(name)));
  return own.length === 0 ? tools : new Map([...tools, ...own.map((tool) => [tool.name, tool] as const)]);
}

const isForPeople = (tool: string) => tool.startsWith("agent:") || tool === "scheduleTask";

/** The state as lines of the prompt. Values are JSON, so that none can imitate another part of the prompt. */
function stateLines(state: TurnState): string {
  return Object.entries(state.visible())
    .map(([key, value]) => `- ${JSON.stringify(key).slice(1, -1)}: ${JSON.stringify(value)}`)
    .join("\n");
}

/** Whether the agent sent this message from its work in another conversation. */
const isSent = ({ role, turnId }: StoredMessage) => role === "assistant" && turnId === null;

/** Whether the agent wrote to people who have not replied yet. */
const isOnlySent = ({ history }: Transcript) => history[0]?.seq === 1 && history.every(isSent);

/** Precedes a message that the agent sent on its own, since models require that both sides alternate. */
const unasked = "(Nobody wrote. You sent the next message of your own accord, from your own work.)";

/**
 * A stored transcript as messages for the model. The first one is a user's. Reasoning is omitted, since providers
 * accept it only within its own turn.
 */
function replay(stored: readonly StoredMessage[]): ModelMessage[] {
  const first = stored.findIndex((message) => message.role === "user" || isSent(message));
  if (first === -1) return [];
  return stored.slice(first).flatMap((message): ModelMessage[] => {
    if (message.role === "user") return [said("user", message.content)];
    if (isSent(message)) return [said("user", unasked), said("assistant", message.content)];
    if (message.modelMessages) return message.modelMessages.map(withoutReasoning).filter(hasContent);
    return message.content === "" ? [] : [said("assistant", message.content)];
  });
}

const said = (role: "user" | "assistant", text: string): ModelMessage => ({ role, content: [{ type: "text", text }] });
