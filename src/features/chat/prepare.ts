import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { Policies } from "../../core/policies.ts";
import { TurnState } from "../../turn/state.ts";
import type { Hook, JsonObject, Limits, ModelMessage, Origin, Resumed, TurnInput } from "../../turn/types.ts";
import type { LiveAgent } from "./agent.ts";
import type { StoredMessage } from "./reading.ts";

interface Preparation {
  turnId: string;
  conversation: TurnInput["conversation"];
  conversationRef: string;
  agent: LiveAgent;
  policies: Policies;
  /** Milliseconds since the epoch. */
  now: number;
  /** What is remembered of the user, as lines; empty for nothing. */
  memories: string;
  origin: Origin;
  model: LanguageModelV4;
  history: readonly ModelMessage[];
  fresh: readonly string[];
  images: NonNullable<TurnInput["images"]>;
  resumed: Resumed | null;
  /** The conversation's, as stored. */
  state: JsonObject;
  /** Whether the conversation begins with this turn. */
  begins: boolean;
  reserve: TurnInput["reserve"];
}

/** The agent as cached, what OPEN read and the policies of this moment become the frozen input of a turn. No I/O. */
export function prepare({ agent, policies, now, memories, begins, ...turn }: Preparation): TurnInput {
  const { row, prompt, datetime, scrub } = agent;
  const { userName = "" } = turn.origin;
  const state = new TurnState(turn.state);
  return {
    ...turn,
    agent: { id: row.id, slug: row.slug, name: row.name },
    settings: {
      thinking: row.thinkingEnabled,
      ...(row.temperature === null ? {} : { temperature: row.temperature }),
      ...(row.maxOutputTokens === null ? {} : { maxOutputTokens: row.maxOutputTokens }),
    },
    system: prompt({
      ...{ datetime: datetime(now), userName, memories },
      state: row.stateInPromptEnabled ? stateLines(state) : "",
    }),
    tools: toolsAt(agent, turn.origin),
    hooks: hooksAt(agent, turn.origin).filter(({ event }) => begins || event !== "conversation_start"),
    limits: limitsOf(policies, row.maxSteps),
    state,
    scrub,
  };
}

/** Node ends a request that is silent for five minutes, and so may what stands between. */
const longestSilenceMs = 240_000;

/** Silence may be thought, or a model that is being loaded: half of a turn's time, and no less than a minute. */
export function limitsOf({ modelTimeoutSeconds, toolTimeoutSeconds }: Policies, maxSteps: number): Limits {
  const turnMs = modelTimeoutSeconds * 1000;
  const silenceMs = Math.min(longestSilenceMs, Math.max(60_000, turnMs / 2));
  return { connectMs: silenceMs, silenceMs, turnMs, toolMs: toolTimeoutSeconds * 1000, maxSteps };
}

/** Where nobody is talked to (decisions §4, "Hooks"). */
const unhooked: ReadonlySet<string> = new Set(["agent", "scheduled", "room"]);

/** The hooks that a channel has. */
export function hooksAt({ hooks }: LiveAgent, { channel }: Origin): readonly Hook[] {
  return unhooked.has(channel) ? [] : hooks;
}

/** An agent that was asked by another one asks nobody itself (spec "Limits"). */
function toolsAt({ tools }: LiveAgent, { depth }: Origin): TurnInput["tools"] {
  return depth === 0 ? tools : new Map([...tools].filter(([, { name }]) => !name.startsWith("agent:")));
}

/** The state as lines of the prompt, each value as JSON: it can't pretend to be another part. */
function stateLines(state: TurnState): string {
  return Object.entries(state.visible())
    .map(([key, value]) => `- ${JSON.stringify(key).slice(1, -1)}: ${JSON.stringify(value)}`)
    .join("\n");
}

/**
 * A stored transcript as the model gets it: it begins with the user, and reasoning stays behind, since providers take
 * it back only within the turn that made it.
 */
export function replay(stored: readonly StoredMessage[]): ModelMessage[] {
  const first = stored.findIndex(({ role }) => role === "user");
  if (first === -1) return [];
  return stored.slice(first).flatMap((message): ModelMessage[] => {
    if (message.role === "user") return [{ role: "user", content: [{ type: "text", text: message.content }] }];
    if (message.modelMessages) return message.modelMessages.map(withoutReasoning).filter(hasContent);
    return message.content === "" ? [] : [{ role: "assistant", content: [{ type: "text", text: message.content }] }];
  });
}

function withoutReasoning(message: ModelMessage): ModelMessage {
  if (message.role !== "assistant") return message;
  const content = message.content
    .filter((part) => part.type === "text" || part.type === "tool-call")
    .map(({ providerOptions: _, ...part }) => part);
  return { role: "assistant", content };
}

function hasContent({ content }: ModelMessage): boolean {
  return content.length > 0;
}
