import { expect, test } from "vitest";
import type { Schedule } from "../../src/client/index.ts";
import { mappingIn, mappingText } from "../../src/panel/pages/agents/agent/channels/context-mapping.ts";
import { conditionsIn, linesOf } from "../../src/panel/pages/agents/agent/room/conditions.ts";
import { isThisMachine } from "../../src/panel/pages/agents/agent/room/this-machine.ts";
import {
  cronWords,
  scheduleOf,
  usualSchedule,
  usualTimes,
  wordsOf,
  writtenSchedule,
} from "../../src/panel/pages/agents/agent/tasks/schedule.ts";

test.each<Schedule>([
  { type: "cron", expression: "*/5 2-4 * * *", timezone: "Europe/Zurich" },
  { type: "interval", everyMs: 90_000 },
  { type: "interval", everyMs: 90 * 60_000 },
  { type: "interval", everyMs: 3 * 86_400_000 },
  { type: "one-shot", runAt: "2026-12-24T18:30:00.000Z" },
])("a schedule that is read and written is the same: %j", (schedule) => {
  expect(scheduleOf(writtenSchedule(schedule, "UTC"))).toEqual(schedule);
});

test("a run without a date says what is missing", () => {
  expect(() => scheduleOf({ ...usualSchedule("UTC"), type: "one-shot" })).toThrow("Choose the date");
});

test.each([
  ["0 9 * * 1-5", "on working days at 09:00"],
  ["5 14 * * *", "every day at 14:05"],
  ["30 * * * *", "every hour, at minute 30"],
  ["0 8 * * 0", "on Sundays at 08:00"],
  ["0 8 * * 7", "on Sundays at 08:00"],
  ["*/5 * * * *", "*/5 * * * *"],
  ["0 9 1 * *", "on the first of each month at 09:00"],
  ["0 9 2 * *", "0 9 2 * *"],
  ["0 9 1 1 *", "0 9 1 1 *"],
  ["0 9 1 * 1", "0 9 1 * 1"],
  ["0 * 1 * *", "0 * 1 * *"],
  ["@daily", "@daily"],
  ["0 9 * * 1,3", "0 9 * * 1,3"],
  ["0 99 * * *", "0 99 * * *"],
  ["60 * * * *", "60 * * * *"],
  ["0 9 * * 8", "0 9 * * 8"],
])("an expression in words: %s", (expression, words) => {
  expect(cronWords(expression)).toBe(words);
});

test("an interval in words", () => {
  expect(wordsOf({ type: "interval", everyMs: 3_600_000 })).toBe("every hour");
  expect(wordsOf({ type: "interval", everyMs: 90 * 60_000 })).toBe("every 90 minutes");
  // A whole number, as a field for numbers takes it.
  expect(wordsOf({ type: "interval", everyMs: 90_000 })).toBe("every 90 seconds");
});

test("conditions are lines of a path and a value in JSON", () => {
  const conditions = [
    { path: "issue.labels.0.name", equals: "bug" },
    { path: "total", equals: 7 },
    { path: "paid", equals: true },
    { path: "note", equals: null },
  ];
  expect(conditionsIn(linesOf(conditions))).toEqual(conditions);
  expect(conditionsIn("  kind=order created \n\n")).toEqual([{ path: "kind", equals: "order created" }]);
  expect(conditionsIn('a = {"b": 1}')).toEqual([{ path: "a", equals: '{"b": 1}' }]);
  expect(() => conditionsIn("no sign")).toThrow("should be as");
});

test("a mapping of the context is lines of a name and a path", () => {
  const mapping = { customerId: "customer.id", plan: "customer.plan.0" };
  expect(mappingIn(mappingText(mapping))).toEqual(mapping);
  expect(() => mappingIn("customer")).toThrow("should be as");
});

test("each usual rhythm of a task has words", () => {
  for (const expression of usualTimes) expect(cronWords(expression)).not.toBe(expression);
});

test("addresses of the machine itself are known in each spelling", () => {
  const own = ["localhost", "a.localhost", "127.0.0.1", "127.1", "2130706433", "0.0.0.0", "[::1]", "[::]"];
  for (const host of own) expect(isThisMachine(`http://${host}:4000/webhooks/x`), host).toBe(true);
  for (const host of ["example.com", "10.0.0.1", "localhost.example.com", "[::2]"]) {
    expect(isThisMachine(`https://${host}/webhooks/x`), host).toBe(false);
  }
  expect(isThisMachine("no address")).toBe(false);
});
