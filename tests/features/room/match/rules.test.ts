import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EngineError, ProviderSetupError } from "../../../../src/core/errors.ts";
import type { JsonValue } from "../../../../src/core/json.ts";
import { endOfAsking, outcomeOf } from "../../../../src/features/room/match/judge.ts";
import { nextStep, passed, verdictOf } from "../../../../src/features/room/match/rules.ts";
import type { Verdict } from "../../../../src/features/room/match/schema.ts";
import { NoAnswer } from "../../../../src/jobs/complete.ts";

const at = Date.UTC(2026, 0, 1);
const bug = { path: "kind", equals: "bug" };

const one = (id: string, action: "conversation" | "backlog" = "conversation", conditions = [] as (typeof bug)[]) => ({
  id,
  action,
  conditions,
});

/** Matches to the end; `yes` are the ids to which the model says yes. Returns the ids in question, and the end. */
function play(definitions: ReturnType<typeof one>[], payload: JsonValue, roomOn: boolean, yes: string[] = []) {
  const verdicts: Verdict[] = [];
  const asked: string[] = [];
  for (;;) {
    const step = nextStep(definitions, { payload, verdicts, roomOn });
    if (step.kind === "act") return { asked, verdicts, end: step.definition.id };
    if (step.kind === "end") return { asked, verdicts, end: step.outcome };
    if (step.kind === "pass") verdicts.push(passed(step.definition, step.unmet, at));
    else {
      asked.push(step.definition.id);
      verdicts.push(verdictOf(step.definition, yes.includes(step.definition.id) ? "Yes." : "no", at));
    }
  }
}

describe("the definitions of a source", () => {
  test("are asked in order until one matches", () => {
    const three = [one("a"), one("b", "backlog"), one("c")];
    expect(play(three, {}, true, ["b", "c"])).toMatchObject({ asked: ["a", "b"], end: "b" });
    expect(play(three, {}, true)).toMatchObject({ asked: ["a", "b", "c"], end: "no-match" });
    expect(play([], {}, true)).toMatchObject({ asked: [], end: "no-match" });
  });

  test("whose condition is not met are skipped, which is noted", () => {
    const { asked, verdicts, end } = play([one("a", "backlog", [bug]), one("b")], { kind: "wish" }, true, ["a", "b"]);
    expect([asked, end]).toEqual([["b"], "b"]);
    expect(verdicts[0]).toEqual({
      definitionId: "a",
      answer: null,
      matched: false,
      at: "2026-01-01T00:00:00.000Z",
      condition: bug,
    });
  });

  test("are not asked for a Room that is off, while any for a conversation are left", () => {
    expect(play([one("a", "backlog"), one("b", "backlog")], {}, false)).toMatchObject({ asked: [], end: "room-off" });
    expect(play([one("a", "backlog"), one("b")], {}, false)).toMatchObject({ asked: ["a", "b"], end: "no-match" });
    expect(play([one("a"), one("b", "backlog")], {}, false)).toMatchObject({ asked: ["a"], end: "room-off" });
    // The conversation's condition is not met, so only the backlog is left.
    expect(play([one("a", "backlog"), one("b", "conversation", [bug])], {}, false)).toMatchObject({
      asked: [],
      end: "room-off",
    });
    expect(play([one("a", "backlog", [bug])], {}, false)).toMatchObject({ asked: [], end: "no-match" });
  });

  test("are each asked once at most, and the first that matches is taken", () => {
    const definitions = fc.array(fc.record({ backlog: fc.boolean(), met: fc.boolean(), yes: fc.boolean() }), {
      maxLength: 8,
    });
    fc.assert(
      fc.property(definitions, fc.boolean(), (drawn, roomOn) => {
        const all = drawn.map(({ backlog, met }, n) =>
          one(`${n}`, backlog ? "backlog" : "conversation", met ? [] : [bug]),
        );
        const yes = drawn.flatMap((each, n) => (each.yes ? [`${n}`] : []));
        const { asked, end } = play(all, {}, roomOn, yes);
        expect(new Set(asked).size).toBe(asked.length);
        expect(asked.every((id) => drawn[Number(id)]?.met)).toBe(true);
        const first = drawn.findIndex((each) => each.met && each.yes);
        if (end === "no-match") expect(first).toBe(-1);
        else if (end === "room-off") expect(roomOn).toBe(false);
        else expect(end).toBe(`${first}`);
      }),
    );
  });
});

test("an answer that decides nothing is no match, with a warning, and is cut", () => {
  expect(verdictOf({ id: "a" }, "**Sì**, certo", at)).toMatchObject({ matched: true, answer: "**Sì**, certo" });
  expect(verdictOf({ id: "a" }, "No.", at)).not.toHaveProperty("warning");
  const odd = verdictOf({ id: "a" }, `It depends ${"😀".repeat(500)}`, at);
  expect(odd).toMatchObject({ matched: false, warning: expect.stringMatching(/^The answer begins neither/) });
  expect(odd.answer?.length).toBe(500);
  expect(odd.answer?.isWellFormed()).toBe(true);
});

const tries = { tried: 1, most: 3 };

test.each([
  [new NoAnswer("Model provider error"), { kind: "retry", reason: "Model provider error" }, "matcher-failed"],
  [new ProviderSetupError("The provider openai has no key"), { kind: "retry" }, "matcher-failed"],
  [
    new EngineError("not-found", "Unknown model"),
    { kind: "give-up", why: "off", reason: "The agent is inactive" },
    "room-off",
  ],
  [
    new EngineError("rate-limited", "Used up", { retryAfterSeconds: 86400 }),
    { kind: "give-up", why: "closed", reason: "Used up" },
    "matcher-failed",
  ],
  [
    new EngineError("rate-limited", "Used up", { retryAfterSeconds: 60 }),
    { kind: "defer", ms: 60_000 },
    "matcher-failed",
  ],
  [
    new EngineError("unavailable", "Overloaded", { retryAfterSeconds: 2 }),
    { kind: "defer", ms: 2_000 },
    "matcher-failed",
  ],
])("%s", (error, expected, outcome) => {
  const end = endOfAsking(error, tries);
  expect(end).toMatchObject(expected);
  expect(end && outcomeOf(end)).toBe(outcome);
});

test("an error of the engine itself is not sent as an answer", () => {
  expect(endOfAsking(new TypeError("x is undefined"), tries)).toBeNull();
});
