import { describe, expect, test } from "vitest";
import { EngineError } from "../../../src/core/errors.ts";
import { Overloaded } from "../../../src/core/limits/admission.ts";
import { type AttemptEnd, endOfError, isStored, repeatLater, type Tries } from "../../../src/features/turns/index.ts";
import { endOfTurn } from "../../../src/features/turns/unattended/end.ts";
import { NoAnswer } from "../../../src/jobs/complete.ts";
import { Postponed } from "../../../src/jobs/postponed.ts";
import type { Failure, TurnOutcome } from "../../../src/turn/types.ts";
import { TestClock } from "../../clock.ts";

const common = {
  text: "",
  steps: [],
  messages: [],
  hooks: [],
  startedAt: 0,
  endedAt: 1,
  model: null,
} as unknown as TurnOutcome;
const failed = (failure: Partial<Failure>): TurnOutcome => ({
  ...common,
  status: "failed",
  failure: { code: "provider-failed", message: "Model provider error", cause: null, ...failure },
});
const aborted = (reason: "stop" | "shutdown" | "superseded"): TurnOutcome => ({ ...common, status: "aborted", reason });
const done: TurnOutcome = { ...common, status: "done" };

const tries: Tries = { tried: 1, most: 3 };
const last: Tries = { tried: 3, most: 3 };

describe("the end of an attempt whose turn", () => {
  test.each<[string, TurnOutcome, Tries, object, object]>([
    ["went well", done, tries, { kind: "done" }, { kind: "done" }],
    ["was stopped", aborted("stop"), tries, { kind: "give-up", why: "stopped" }, { kind: "give-up", why: "stopped" }],
    ["was interrupted", aborted("shutdown"), last, { kind: "defer", ms: 0 }, { kind: "give-up", why: "tools-called" }],
    [
      "was interrupted, where nothing may be lost",
      aborted("shutdown"),
      { ...last, losesNothing: true },
      { kind: "defer", ms: 0 },
      { kind: "defer", ms: 0 },
    ],
    [
      "failed",
      failed({ retryAfterSeconds: 7, hint: "model_not_found" }),
      tries,
      { kind: "retry", ms: 7_000, alone: false, reason: "Model provider error: model_not_found" },
      {
        kind: "give-up",
        why: "tools-called",
        reason: "Model provider error: model_not_found. It is not tried again, since tools were called",
      },
    ],
    [
      "failed for the last time",
      failed({}),
      last,
      { kind: "give-up", why: "too-often" },
      { kind: "give-up", why: "tools-called" },
    ],
    [
      "met an unusable connection",
      failed({ code: "unavailable", cause: new EngineError("unavailable", "Not usable") }),
      tries,
      { kind: "retry", alone: false },
      { kind: "give-up", why: "tools-called" },
    ],
    [
      "met an unusable connection for the last time",
      failed({ code: "unavailable", cause: new EngineError("unavailable", "Not usable") }),
      last,
      { kind: "give-up", why: "too-often" },
      { kind: "give-up", why: "tools-called" },
    ],
    [
      "was too long for the model",
      failed({ code: "too-large" }),
      tries,
      { kind: "give-up", why: "refused" },
      { kind: "give-up", why: "tools-called" },
    ],
    [
      "was too long for the model with several items",
      failed({ code: "too-large" }),
      { ...last, items: 2 },
      { kind: "retry", alone: true, ms: 0 },
      { kind: "give-up", why: "tools-called" },
    ],
    [
      "met a spent budget",
      failed({ code: "rate-limited", cause: new EngineError("rate-limited", "Spent"), retryAfterSeconds: 86_400 }),
      tries,
      { kind: "give-up", why: "closed" },
      { kind: "give-up", why: "tools-called" },
    ],
  ])("%s", (_what, outcome, rules, without, withTools) => {
    expect(endOfTurn(outcome, false, rules)).toMatchObject(without);
    expect(endOfTurn(outcome, true, rules)).toMatchObject(withTools);
  });

  test("leaves messages where no other attempt says the same", () => {
    const stored = [done, aborted("stop")].map((outcome) => endOfTurn(outcome, false, tries));
    const others = [failed({}), aborted("superseded")].map((outcome) => endOfTurn(outcome, false, last));
    expect([stored.map(isStored), others.map(isStored)]).toEqual([
      [true, true],
      [false, false],
    ]);
    expect(isStored(endOfTurn(failed({}), true, tries))).toBe(true);
  });
});

test.each<[string, unknown, Tries, object]>([
  ["an overload", new Overloaded(2), last, { kind: "defer" }],
  [
    "a throttle",
    new EngineError("rate-limited", "Wait", { retryAfterSeconds: 60 }),
    last,
    { kind: "defer", ms: 60_000 },
  ],
  ["an inactive agent", new EngineError("not-found", "Unknown model"), tries, { kind: "give-up", why: "off" }],
  ["a model without an answer", new NoAnswer("It is blank"), tries, { kind: "retry", reason: "It is blank" }],
  ["a fault of the engine", new TypeError("x is undefined"), tries, { kind: "retry", reason: "Internal server error" }],
  ["a fault that stays", new TypeError("x is undefined"), last, { kind: "give-up", why: "too-often" }],
])("%s in place of a turn", (_what, error, rules, expected) => {
  expect(endOfError(error, rules)).toMatchObject(expected);
});

test("work rests longer after each attempt, and is tried at once when it is alone", () => {
  const clock = new TestClock();
  const restOf = (end: AttemptEnd, tried: number) => {
    try {
      repeatLater(clock, { end, tried });
      return null;
    } catch (error) {
      return error instanceof Postponed ? error.until - clock.now() : error;
    }
  };
  const retry = (ms: number, alone = false): AttemptEnd => ({ kind: "retry", reason: "why", ms, alone });
  expect(restOf(retry(0), 1)).toSatisfy((ms: number) => ms >= 2_500 && ms <= 5_000);
  expect(restOf(retry(0), 3)).toSatisfy((ms: number) => ms >= 10_000 && ms <= 20_000);
  expect(restOf(retry(60_000), 1)).toBe(60_000);
  expect(restOf(retry(0, true), 3)).toBe(0);
  expect(restOf({ kind: "defer", reason: "why", ms: 7 }, 9)).toBe(7);
  expect(restOf({ kind: "done" }, 1)).toBeNull();
  expect(restOf({ kind: "give-up", reason: "why", why: "closed" }, 1)).toBeNull();
});
