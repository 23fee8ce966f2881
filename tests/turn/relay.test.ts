import { expect, test } from "vitest";
import { relay } from "../../src/turn/relay.ts";
import { run } from "../../src/turn/run.ts";
import type { TurnEvent, TurnOutcome } from "../../src/turn/types.ts";
import { TestClock } from "../clock.ts";
import { finish, gate, reply, type ScriptStep, scriptedModel, text } from "../scripted-model.ts";
import { streamedText, turnInput } from "./input.ts";

const never = new Promise<never>(() => {});

function relayed(
  step: ScriptStep,
  rule: "cancel-if-silent" | "always-finish" = "cancel-if-silent",
  onEvent: (event: TurnEvent) => void = () => {},
) {
  const recorded: TurnOutcome[] = [];
  const input = turnInput(scriptedModel([step]));
  const events: TurnEvent[] = [];
  const turn = relay({
    rule,
    run: (signal, tell) => run(input, signal, new TestClock(), tell),
    tell: (event) => {
      events.push(event);
      onEvent(event);
    },
    record: async (outcome) => {
      recorded.push(outcome);
      return outcome;
    },
  });
  return { turn, recorded, events };
}

test("every event is passed on, in order", async () => {
  const { turn, events } = relayed(reply("one", "two"));
  await turn.ended;
  expect(events[0]).toMatchObject({ type: "step-start" });
  expect(streamedText(events)).toBe("onetwo");
});

test("the turn is recorded before it has ended", async () => {
  const { turn, recorded } = relayed(reply("ok"));
  expect(await turn.ended).toBe(recorded[0]);
});

test.each([
  ["cancel-if-silent", "aborted"],
  ["always-finish", "done"],
] as const)("when everybody leaves before output, %s means %s", async (rule, status) => {
  const held = gate();
  const { turn, recorded } = relayed({ parts: [held.promise, text("late"), finish()] }, rule);
  turn.leave();
  held.open();
  expect((await turn.ended).status).toBe(status);
  expect(recorded).toHaveLength(1);
});

test("after output no leaving of its listeners stops the turn, and its text is passed on", async () => {
  const held = gate();
  const first = gate();
  const { turn, events } = relayed(
    { parts: [text("some"), held.promise, text(" more"), finish()] },
    "cancel-if-silent",
    ({ type }) => {
      if (type === "text-delta") first.open();
    },
  );
  await first.promise;
  turn.leave();
  held.open();
  expect(await turn.ended).toMatchObject({ status: "done", text: "some more" });
  expect(streamedText(events)).toBe("some more");
});

test("a turn that cannot start is a failure, one that is aborted while it waits is aborted; both are recorded", async () => {
  const recorded: TurnOutcome[] = [];
  const record = async (outcome: TurnOutcome) => {
    recorded.push(outcome);
    return outcome;
  };
  const tell = () => {};
  const failing = relay({ rule: "always-finish", record, tell, run: () => Promise.reject(new Error("no model")) });
  expect(await failing.ended).toMatchObject({
    status: "failed",
    produced: false,
    failure: { code: "provider-failed" },
  });

  const waiting = relay({
    rule: "cancel-if-silent",
    record,
    tell,
    run: (signal) =>
      Promise.race([
        never,
        new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
      ]),
  });
  waiting.leave();
  expect(await waiting.ended).toMatchObject({ status: "aborted", reason: "disconnect" });
  expect(recorded).toHaveLength(2);
});

test("a turn that cannot be recorded has not ended well", async () => {
  const input = turnInput(scriptedModel([reply("ok")]));
  const turn = relay({
    rule: "always-finish",
    run: (signal, tell) => run(input, signal, new TestClock(), tell),
    tell: () => {},
    record: () => Promise.reject(new Error("disk full")),
  });
  await expect(turn.ended).rejects.toThrow("disk full");
});
