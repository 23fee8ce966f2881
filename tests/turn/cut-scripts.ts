import type { LanguageModelV4, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import fc from "fast-check";
import type { Clock } from "../../src/core/ports.ts";
import { pause } from "../../src/core/time/pause.ts";
import type { Hook, HookEvent, Tool } from "../../src/turn/types.ts";
import { finish, reasoning, text, toolCall } from "../scripted-model.ts";
import { tool } from "./input.ts";

/** A part of a provider's stream; times are milliseconds of the test's clock. */
type Said =
  | { kind: "pause"; ms: number }
  | { kind: "reasoning" | "text"; deltas: string[]; ms: number }
  | { kind: "call"; toolMs: number; fails: boolean; ms: number };

export interface Step {
  /** The time until the call's stream opens. */
  connectMs: number;
  /** The number of retryable refusals before the call succeeds. */
  refusals: number;
  said: Said[];
  ending: "stop" | "cut off";
}

interface ScriptedHook {
  event: HookEvent;
  ms: number;
  fails: boolean;
  mutates: boolean;
}

/** All events of a turn, with their times. */
export interface Script {
  /** The time for which the turn waits for its place; null when it need not wait. */
  waitMs: number | null;
  /** The time that the preparation takes; an abort does not shorten it. */
  prepareMs: number;
  hooks: ScriptedHook[];
  steps: Step[];
}

const ms = fc.integer({ min: 0, max: 400 });
const oneIn = (n: number) => fc.integer({ min: 1, max: n }).map((drawn) => drawn === 1);

const said: fc.Arbitrary<Said> = fc.oneof(
  fc.record({ kind: fc.constant("pause" as const), ms }),
  fc.record({
    kind: fc.constantFrom("reasoning" as const, "text" as const),
    // Some providers send deltas without text.
    deltas: fc.array(fc.constantFrom("", "a", "bc ", "é👋", "\n"), { maxLength: 4 }),
    ms,
  }),
  fc.record({ kind: fc.constant("call" as const), toolMs: ms, fails: oneIn(5), ms }),
);

const step: fc.Arbitrary<Step> = fc.record({
  connectMs: ms,
  refusals: fc.constantFrom(0, 0, 0, 1, 2),
  said: fc.array(said, { maxLength: 5 }),
  ending: fc.constantFrom("stop", "stop", "stop", "stop", "stop", "cut off"),
});

const hook: fc.Arbitrary<ScriptedHook> = fc.record({
  event: fc.constantFrom("conversation_start", "message_received", "response_generated", "response_sent"),
  ms,
  fails: oneIn(5),
  mutates: oneIn(4),
});

export const script: fc.Arbitrary<Script> = fc.record({
  waitMs: fc.option(ms, { freq: 2 }),
  prepareMs: ms,
  hooks: fc.array(hook, { maxLength: 4 }),
  steps: fc.array(step, { minLength: 1, maxLength: 3 }),
});

export interface TimedModel extends LanguageModelV4 {
  /** The signals of the model calls, in order. */
  readonly signals: AbortSignal[];
}

/** A model that takes the scripted times and obeys its signal. A call beyond the script says one word. */
export function timedModel(steps: readonly Step[], clock: Clock): TimedModel {
  const signals: AbortSignal[] = [];
  const left = steps.map(({ refusals }) => refusals);
  let index = 0;
  return {
    specificationVersion: "v4",
    provider: "timed",
    modelId: "timed",
    supportedUrls: {},
    signals,
    async doStream({ abortSignal = new AbortController().signal }) {
      signals.push(abortSignal);
      const at = index;
      const now = steps[at];
      await pause(clock, now?.connectMs ?? 0, abortSignal);
      if ((left[at] ?? 0) > 0) {
        left[at] = (left[at] ?? 0) - 1;
        throw new TypeError("fetch failed");
      }
      index += 1;
      const items = now ? itemsOf(now, at) : [...text("more"), finish()];
      return { stream: timedStream(items, clock, abortSignal) };
    },
    doGenerate: () => Promise.reject(new Error("The engine streams")),
  };
}

type Item = LanguageModelV4StreamPart | number | Error;

function itemsOf({ said: all, ending }: Step, index: number): Item[] {
  const items = all.flatMap((one, at): Item[] => {
    if (one.kind === "pause") return [one.ms];
    // The time passes in the middle of the tool call's parts.
    if (one.kind === "call") return spread(toolCall(`${index}.${at}`, nameOf(one.toolMs, one.fails)), one.ms);
    return spread(one.kind === "text" ? text(...one.deltas) : reasoning(...one.deltas), one.ms);
  });
  const calls = all.some(({ kind }) => kind === "call");
  return [...items, ending === "stop" ? finish(calls ? "tool-calls" : "stop") : new Error("The provider broke off")];
}

function spread(parts: LanguageModelV4StreamPart[], length: number): Item[] {
  const middle = Math.ceil(parts.length / 2);
  return [...parts.slice(0, middle), length, ...parts.slice(middle)];
}

function timedStream(items: readonly Item[], clock: Clock, signal: AbortSignal) {
  const queue = [...items];
  return new ReadableStream<LanguageModelV4StreamPart>(
    {
      async pull(controller) {
        for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
          if (item instanceof Error) throw item;
          if (typeof item !== "number") return controller.enqueue(item);
          await pause(clock, item, signal);
        }
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

const nameOf = (toolMs: number, fails: boolean) => `tool-${toolMs}-${fails ? "fails" : "answers"}`;

/** The tools that the script calls, by name. */
export function toolsOf({ steps }: Script, clock: Clock): Map<string, Tool> {
  const calls = steps.flatMap(({ said: all }) => all.flatMap((one) => (one.kind === "call" ? [one] : [])));
  return new Map(
    calls.map(({ toolMs, fails }) => {
      const name = nameOf(toolMs, fails);
      return [name, timedTool(name, { ms: toolMs, fails }, clock)];
    }),
  );
}

export function hooksOf({ hooks }: Script, clock: Clock): Hook[] {
  return hooks.map(({ event, mutates, ...timing }, index) => {
    const toolName = `hook-${index}`;
    const made = timedTool(toolName, timing, clock);
    return { id: toolName, event, toolName, tool: made, args: {}, mutates, timeoutMs: 10_000 };
  });
}

function timedTool(name: string, { ms: length, fails }: { ms: number; fails: boolean }, clock: Clock): Tool {
  return tool(name, async (_args, { signal }) => {
    await pause(clock, length, signal);
    if (fails) throw new Error(`${name} failed`);
    return `${name} was here`;
  });
}
