import { describe, expect, test } from "vitest";
import type { Log } from "../../src/core/ports.ts";
import type { TurnRequest } from "../../src/features/turns/index.ts";
import {
  Audience,
  nothingStored,
  type TurnEnding,
  type TurnListener,
  type TurnObserver,
} from "../../src/turn/observers.ts";
import { relay } from "../../src/turn/relay.ts";
import { run } from "../../src/turn/run.ts";
import type { Tool, TurnEvent, TurnInput, TurnOutcome } from "../../src/turn/types.ts";
import { TestClock } from "../clock.ts";
import { chatHarness } from "../features/chat/chat.ts";
import { finish, reply, type ScriptStep, scriptedModel, text, toolCall } from "../scripted-model.ts";
import { ownTurns, startedTurn, takeOwnTurn } from "../turns.ts";
import { streamedText, tool, turnInput } from "./input.ts";

const never = new Promise<never>(() => {});
const broken = () => {
  throw new Error("broken");
};
/** TypeScript accepts an `async` function where a listener returns `void`. */
const rejecting = async () => Promise.reject(new Error("broken"));

/** Observers that break the rules for observers, and the number of errors that are logged. */
const bad: Record<string, { observer: TurnObserver; errors: number }> = {
  "throws when a turn starts": { observer: { started: broken }, errors: 1 },
  "rejects when a turn starts": { observer: { started: rejecting as never }, errors: 1 },
  "never says whether the turn matters": { observer: { started: (() => never) as never }, errors: 0 },
  "throws at each event": { observer: { started: () => ({ event: broken, ended: broken }) }, errors: 1 },
  "rejects at each event": { observer: { started: () => ({ event: rejecting, ended: rejecting }) }, errors: 1 },
  "never gets done with an event": { observer: { started: () => ({ event: () => never }) }, errors: 0 },
  "throws at the end": { observer: { started: () => ({ ended: broken }) }, errors: 1 },
  "rejects at the end": { observer: { started: () => ({ ended: rejecting }) }, errors: 1 },
  "never gets done with the end": { observer: { started: () => ({ ended: () => never }) }, errors: 0 },
};

/** An observer and a listener that note all calls. */
function diary() {
  const events: TurnEvent[] = [];
  const endings: TurnEnding[] = [];
  const listener: TurnListener = {
    event: (event) => void events.push(event),
    ended: (ending) => void endings.push(ending),
  };
  return { events, endings, listener, observer: { started: () => listener } satisfies TurnObserver };
}

/** Runs a turn as the engine does, with these observers and a listener of the turn. */
async function observed(
  observers: readonly TurnObserver[],
  steps: readonly ScriptStep[],
  input: Partial<TurnInput> = {},
  clock = new TestClock(),
) {
  const errors: unknown[] = [];
  const log = { error: (fields: unknown) => errors.push(fields) } as unknown as Log;
  const own = diary();
  const recorded: TurnOutcome[] = [];
  const audience = new Audience(log);
  const turn = relay({
    rule: "always-finish",
    run: (signal, tell) => run(turnInput(scriptedModel(steps), input), signal, clock, tell),
    tell: (event) => audience.event(event),
    record: async (outcome) => {
      recorded.push(outcome);
      audience.ended({ outcome, replyKept: true, stored: nothingStored });
      return outcome;
    },
  });
  audience.start(observers, startedTurn(), own.listener);
  const outcome = await turn.ended;
  // Unhandled rejections are reported after all microtasks.
  await new Promise((resolve) => setImmediate(resolve));
  return { outcome, recorded, errors, own };
}

describe.each(Object.entries(bad))("an observer that %s", (_, { observer, errors: count }) => {
  test("costs a turn nothing, and is complained of once", async () => {
    const [before, after] = [diary(), diary()];
    const { outcome, recorded, errors, own } = await observed(
      [before.observer, observer, after.observer],
      [reply("one ", "two ", "three")],
    );
    expect(outcome).toMatchObject({ status: "done", text: "one two three" });
    expect(recorded).toEqual([outcome]);
    for (const { events, endings } of [before, after, own]) {
      expect(events.map(({ type }) => type)).toEqual([
        ...["step-start", "text-delta", "text-delta", "text-delta", "step-finish"],
      ]);
      expect(streamedText(events)).toBe("one two three");
      expect(endings).toEqual([{ outcome, replyKept: true, stored: nothingStored }]);
    }
    expect(errors).toHaveLength(count);
  });

  test("costs a turn of the engine nothing: its reply, its rows and other listeners stay the same", async () => {
    const h = await chatHarness(scriptedModel(() => reply("one ", "two")));
    const good = diary();
    const { slug } = h.agent;
    const request: TurnRequest = {
      door: "native",
      origin: { channel: "web", channelId: "x", source: "user", depth: 0, subject: "web:x" },
      ref: `${slug}:web:x`,
      stored: true,
      input: { history: [], fresh: ["Hi"] },
      rule: "always-finish",
      requestId: "r",
      throttle: null,
    };
    const turn = await takeOwnTurn(ownTurns(h.services, [observer, good.observer]), slug, request);
    const outcome = await turn.ended;
    await new Promise((resolve) => setImmediate(resolve));
    expect(outcome).toMatchObject({ status: "done", text: "one two" });
    expect(streamedText(good.events)).toBe("one two");
    const { messages, turns: rows } = await h.stored();
    const stored = { messageIds: messages.map(({ id }) => id), hookExecutionIds: [] };
    expect(good.endings).toEqual([{ outcome, replyKept: true, stored }]);
    expect(messages.map(({ content }) => content)).toEqual(["Hi", "one two"]);
    expect(rows.map(({ status }) => status)).toEqual(["done"]);
    expect(h.logs.filter((line) => line.includes("An observer of turns failed"))).toHaveLength(count);
  });
});

describe("observers are told", () => {
  const clock = new TestClock();
  const slow: Tool["execute"] = async () => {
    await clock.advance(40);
    return "done";
  };
  const tools = new Map([
    ["shop__look", { ...tool("shop:look", slow) }],
    ["fail", tool("fail", rejecting)],
    ["pay", { ...tool("pay", async () => "paid"), needsApproval: true }],
  ]);
  const conversation = { id: "c", ref: "assistant:web:api-c", ticket: 1 };
  const calling = (...calls: [id: string, name: string, args?: object][]): ScriptStep => ({
    parts: [...calls.flatMap(([id, name, args]) => toolCall(id, name, args)), finish("tool-calls")],
  });
  const only = <Type extends TurnEvent["type"]>(events: readonly TurnEvent[], type: Type) =>
    events.filter((event): event is Extract<TurnEvent, { type: Type }> => event.type === type);

  test("of a result with the canonical name of its tool, whether it went well, and how long it took", async () => {
    const good = diary();
    const steps = [calling(["a", "shop__look"]), calling(["b", "fail"]), reply("Done.")];
    await observed([good.observer], steps, { tools }, clock);
    expect(only(good.events, "tool-result")).toEqual([
      { type: "tool-result", id: "a", name: "shop:look", ok: true, durationMs: 40, result: "done" },
      { type: "tool-result", id: "b", name: "fail", ok: false, durationMs: 0, result: { error: "broken" } },
    ]);
  });

  test("of each call that waits for a person, after the results of the others", async () => {
    const good = diary();
    const steps = [calling(["p", "pay", { amount: 1 }], ["a", "shop__look"], ["q", "pay", { amount: 2 }])];
    const { outcome } = await observed([good.observer], steps, { tools, conversation }, clock);
    expect(outcome.status).toBe("approval");
    const asked = only(good.events, "approval-request");
    expect(asked).toMatchObject([
      { name: "pay", args: { amount: 1 } },
      { name: "pay", args: { amount: 2 } },
    ]);
    const pending = outcome.status === "approval" ? outcome.pending : [];
    expect(asked.map(({ id }) => id)).toEqual(pending.map(({ toolCallId }) => toolCallId));
    expect(only(good.events, "tool-call")).toHaveLength(3);
    expect(only(good.events, "tool-result")).toMatchObject([{ id: "a", ok: true }]);
    const order = good.events.map(({ type }) => type);
    expect(order.indexOf("tool-result")).toBeLessThan(order.indexOf("approval-request"));
    expect(order.at(-1)).toBe("step-finish");
  });

  test("of no call that waits where no person can decide", async () => {
    const good = diary();
    await observed([good.observer], [calling(["p", "pay"]), { parts: [text("No."), finish()] }], { tools });
    expect(only(good.events, "approval-request")).toEqual([]);
    expect(only(good.events, "tool-result")).toMatchObject([{ name: "pay", ok: false }]);
  });
});
