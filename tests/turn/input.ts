import type { NamedModel } from "../../src/core/models/fallbacks.ts";
import type { Clock, StreamingModel } from "../../src/core/ports.ts";
import { scrubber } from "../../src/core/scrub/scrub.ts";
import type { TurnModels } from "../../src/turn/models.ts";
import { run } from "../../src/turn/run.ts";
import { TurnState } from "../../src/turn/state.ts";
import type { JsonValue, Tool, ToolContext, TurnEvent, TurnInput, TurnOutcome } from "../../src/turn/types.ts";
import { TestClock } from "../clock.ts";

/** The only model of a turn, without a connection. */
export function onlyModel(
  { provider, model }: Pick<NamedModel, "provider" | "model">,
  opened: StreamingModel,
): TurnModels {
  return [{ named: { provider, model, connectionId: null, connection: null }, open: async () => opened }];
}

/** A complete turn input with the given model, or several; a test overrides the fields that it needs. */
export function turnInput(model: StreamingModel | TurnModels, overrides: Partial<TurnInput> = {}): TurnInput {
  return {
    turnId: "turn-1",
    requestId: "request-1",
    conversation: null,
    conversationRef: "assistant:web:x",
    agent: { id: "agent-1", slug: "assistant", name: "Assistant" },
    origin: { channel: "web", channelId: "x", source: "user", depth: 0, subject: "web:x" },
    models: "doStream" in model ? onlyModel({ provider: "openai", model: "m" }, model) : model,
    settings: { thinking: false },
    system: "You are Assistant.",
    stable: 0,
    history: [],
    fresh: ["Hello"],
    continued: null,
    tools: new Map(),
    hooks: [],
    limits: { maxSteps: 4, connectMs: 60_000, silenceMs: 30_000, turnMs: 300_000, toolMs: 60_000 },
    state: new TurnState(),
    reserve: null,
    scrub: scrubber([]),
    ...overrides,
  };
}

/** The context of a tool call, by default in a turn without a stored conversation. */
export function toolContext(overrides: Partial<ToolContext> = {}): ToolContext {
  return {
    turnId: "019a0000-0000-7000-8000-000000000000",
    requestId: "request-1",
    toolCallId: "call-1",
    signal: new AbortController().signal,
    state: new TurnState(),
    emit: () => {},
    origin: { channel: "web", channelId: "x", source: "user", depth: 0, subject: "web:x" },
    conversation: null,
    ...overrides,
  };
}

export function tool(name: string, execute: Tool["execute"]): Tool {
  return {
    name,
    description: name,
    inputSchema: { type: "object" },
    effect: "none",
    seesSecrets: false,
    needsApproval: false,
    validate: (args) => args,
    execute,
  };
}

export const answering = (value: JsonValue) => async () => value;

interface Ran {
  events: TurnEvent[];
  outcome: TurnOutcome;
}

/** Runs a turn to its end. */
export async function runTurn(
  input: TurnInput,
  { clock = new TestClock() as Clock, signal = new AbortController().signal, onEvent = (_event: TurnEvent) => {} } = {},
): Promise<Ran> {
  const events: TurnEvent[] = [];
  const outcome = await run(input, signal, clock, (event) => {
    events.push(event);
    onEvent(event);
  });
  return { events, outcome };
}

/** The text that a list of events streams. */
export function streamedText(events: readonly TurnEvent[]): string {
  return events.map((event) => (event.type === "text-delta" ? event.text : "")).join("");
}
