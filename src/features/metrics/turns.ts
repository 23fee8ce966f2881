import type { Services } from "../../context/ctx.ts";
import type { Plugin } from "../../core/plugins/plugin.ts";
import { pluginToolName } from "../../core/plugins/plugins.ts";
import {
  isAnswer,
  type StartedTurn,
  type TurnEnding,
  type TurnListener,
  type TurnObserver,
} from "../../turn/observers.ts";
import type { TurnEvent } from "../../turn/types.ts";
import { builtinNames } from "../tools/index.ts";

/** In seconds: from the short reply of a fast model to the longest turns. */
const turnBuckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320];
const firstOutputBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64];
const toolBuckets = [0.01, 0.05, 0.25, 1, 2.5, 5, 10, 30, 60];

/** Counts and measures every turn of this process. */
export function measureTurns(services: Pick<Services, "meters" | "plugins">): TurnObserver {
  const measure = meters(services);
  const running = new Map<string, number>();
  const change = (door: string, by: number) => running.set(door, (running.get(door) ?? 0) + by);
  services.meters.readings(
    {
      name: "agent_engine_turns_running",
      type: "gauge",
      labels: ["door"],
      help: "Turns that this process has under way or lets wait for their places.",
    },
    () => [...running].map(([door, value]) => ({ labels: { door }, value })),
  );
  return {
    started(turn): TurnListener {
      change(turn.door, 1);
      return {
        event: (event) => noteEvent(measure, turn, event),
        ended(ending) {
          change(turn.door, -1);
          noteEnding(measure, turn, ending);
        },
      };
    },
  };
}

type Measures = ReturnType<typeof meters>;

function meters({ meters, plugins }: Pick<Services, "meters" | "plugins">) {
  return {
    toolLabel: toolLabels(plugins),
    turns: meters.counter({
      name: "agent_engine_turns_total",
      help: "Turns by the way they ended; reason is a failure's code, or why a turn was broken off.",
      labels: ["door", "channel", "status", "reason"],
    }),
    duration: meters.histogram({
      name: "agent_engine_turn_duration_seconds",
      help: "How long turns ran that ended well, without the time they waited for their places.",
      labels: ["door"],
      buckets: turnBuckets,
    }),
    firstOutput: meters.histogram({
      name: "agent_engine_turn_first_output_seconds",
      help: "The time until the first output of a turn: text, reasoning or the beginning of a tool call.",
      labels: ["door"],
      buckets: firstOutputBuckets,
    }),
    tokens: meters.counter({
      name: "agent_engine_tokens_total",
      help: "Tokens of turns, as the providers counted them.",
      labels: ["provider", "direction"],
    }),
    steps: meters.counter({
      name: "agent_engine_steps_total",
      help: "Answers of models in turns, by the reason for which they ended.",
      labels: ["finish_reason"],
    }),
    retries: meters.counter({
      name: "agent_engine_model_retries_total",
      help: "Calls of models in turns that failed before anything came of them and were tried again, by the failure's code.",
      labels: ["provider", "code"],
    }),
    tools: meters.histogram({
      name: "agent_engine_tool_duration_seconds",
      help: "Calls of tools that were made: built-in ones and those of plugins by name, others by their kind.",
      labels: ["tool", "ok"],
      buckets: toolBuckets,
    }),
    hooks: meters.counter({
      name: "agent_engine_hook_runs_total",
      help: "Runs of hooks.",
      labels: ["event", "ok"],
    }),
  };
}

function noteEvent({ toolLabel, steps, tools, hooks, retries }: Measures, turn: StartedTurn, event: TurnEvent): void {
  if (event.type === "tool-result") {
    if (!event.withheld) tools({ tool: toolLabel(event.name), ok: String(event.ok) }, event.durationMs / 1000);
  } else if (event.type === "step-finish") {
    if (isAnswer(turn, event.index)) steps({ finish_reason: event.finishReason });
  } else if (event.type === "model-retry") {
    retries({ provider: event.model.provider, code: event.failure.code });
  } else if (event.type === "hook-execution") {
    hooks({ event: event.execution.event, ok: String(event.execution.success) });
  }
}

function noteEnding(measure: Measures, { door, origin }: StartedTurn, ending: TurnEnding): void {
  const { channel } = origin;
  if ("unrecorded" in ending) {
    measure.turns({ door, channel, status: "unrecorded", reason: ending.unrecorded.code });
    return;
  }
  const { outcome } = ending;
  const { status, firstOutputMs, durationMs, answered } = outcome;
  const reason = status === "failed" ? outcome.failure.code : status === "aborted" ? outcome.reason : "";
  measure.turns({ door, channel, status, reason });
  if (status === "done" || status === "approval") measure.duration({ door }, durationMs / 1000);
  if (firstOutputMs !== null) measure.firstOutput({ door }, firstOutputMs / 1000);
  for (const { model, usage } of answered) {
    measure.tokens({ provider: model.provider, direction: "prompt" }, usage.promptTokens);
    measure.tokens({ provider: model.provider, direction: "completion" }, usage.completionTokens);
  }
}

/**
 * Names tools in metrics. Only tools of the engine and of the server's plugins keep their names, since organizations
 * choose the names of MCP tools and agents.
 */
export function toolLabels(plugins: readonly Plugin[]): (name: string) => string {
  const ours = plugins.flatMap(({ namespace, tools }) => tools.map((tool) => pluginToolName(namespace, tool.name)));
  const known = new Set([...builtinNames, ...ours]);
  return (name) => (known.has(name) ? name : kindOf(name));
}

function kindOf(name: string): string {
  if (name.startsWith("agent:")) return "agent";
  return name.includes(":") ? "plugin" : "other";
}
