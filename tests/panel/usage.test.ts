import { describe, expect, test } from "vitest";
import { type FailureItem, failurePath, failureText } from "../../src/panel/pages/overview/failure-text.ts";
import { compareToday } from "../../src/panel/pages/overview/today.ts";
import { csvOf } from "../../src/panel/pages/usage/csv.ts";
import { askedPeriod, periodOf, periodProblem } from "../../src/panel/pages/usage/period.ts";

const now = Date.UTC(2026, 0, 15, 23);
const period = (text: string) => periodOf(new URLSearchParams(text), now);

test.each([
  ["", { choice: "month", from: "2026-01-01", to: "2026-01-15" }],
  ["period=last-month", { choice: "last-month", from: "2025-12-01", to: "2025-12-31" }],
  ["from=2025-02-01&to=2025-02-03", { choice: "custom", from: "2025-02-01", to: "2025-02-03" }],
  ["from=nonsense&to=2025-02-03", { choice: "month", from: "2026-01-01", to: "2026-01-15" }],
])("the period of %j", (text, expected) => {
  expect(period(text)).toEqual(expected);
});

test("the last day counts, and a year is the most", () => {
  expect(askedPeriod(period("period=last-month"))).toEqual({ from: "2025-12-01", to: "2026-01-01" });
  expect(periodProblem(period("from=2024-01-01&to=2024-12-31"))).toBeUndefined();
  expect(periodProblem(period("from=2024-01-01&to=2025-01-01"))).toMatch(/At most 366 days/);
  expect(periodProblem(period("from=2024-01-02&to=2024-01-01"))).toMatch(/before the first/);
});

describe("usage as a file", () => {
  const numbers = {
    turns: 2,
    promptTokens: 10,
    completionTokens: 3,
    totalTokens: 13,
    costMicros: 40,
    unpricedTurns: 1,
  };
  test("names agents, people, models or days", () => {
    expect(csvOf([{ instanceId: "tea", instanceName: 'Tea, "green"', ...numbers }], "USD")).toBe(
      'agent,name,turns,prompt_tokens,completion_tokens,total_tokens,cost_micros,currency,unpriced_turns\r\ntea,"Tea, ""green""",2,10,3,13,40,USD,1\r\n',
    );
    expect(csvOf([{ model: "openai:gpt-5", ...numbers }], "USD")).toMatch(/^model,turns.*\r\nopenai:gpt-5,2,/);
    expect(csvOf([{ date: "2026-01-01", ...numbers }], "USD")).toMatch(/^date,turns.*\r\n2026-01-01,2,/);
    expect(csvOf([{ user: null, userChannel: null, ...numbers }], "USD")).toMatch(/^user,channel,turns.*\r\n,,2,/);
  });

  test("leaves an unknown cost empty", () => {
    const row = { date: "2026-01-01", ...numbers, costMicros: null, unpricedTurns: 2 };
    expect(csvOf([row], "EUR")).toMatch(/\r\n2026-01-01,2,10,3,13,,EUR,2\r\n$/);
  });

  test("has no costs where none are shown", () => {
    expect(csvOf([{ date: "2026-01-01", ...numbers }], null)).toBe(
      "date,turns,prompt_tokens,completion_tokens,total_tokens\r\n2026-01-01,2,10,3,13\r\n",
    );
  });

  test("holds no formula that somebody put into a name", () => {
    expect(csvOf([{ user: "=1+1", userChannel: "web", ...numbers }], null)).toContain("\r\n'=1+1,web,2");
  });
});

test("today is compared with the seven days before", () => {
  const day = (turns: number, latencyP50: number | null) => ({
    date: "2026-01-01",
    turns,
    tokens: 10 * turns,
    costMicros: null,
    unpricedTurns: turns,
    conversations: turns,
    messages: 0,
    latencyP50,
    latencyP95: null,
  });
  const days = [day(99, 9), ...[0, 7, 0, 7, 0, 7, 0].map((turns) => day(turns, turns === 0 ? null : 100)), day(5, 200)];
  expect(compareToday(days)).toEqual({
    turns: { today: 5, usual: 3 },
    conversations: { today: 5, usual: 3 },
    tokens: { today: 50, usual: 30 },
    latency: { today: 200, usual: 100 },
  });
  expect(compareToday([day(0, null), day(1, null)]).turns).toEqual({ today: 1, usual: null });
});

test("failures are described in words, and link to their conversation if there is one", () => {
  const failed: FailureItem = {
    kind: "turn",
    instanceId: "tea",
    instanceName: "Tea",
    conversationId: null,
    name: "web",
    error: "provider-timeout",
    at: "2026-01-01T00:00:00.000Z",
  };
  expect(failureText(failed)).toEqual({ what: "A reply over web failed", why: "the model took too long" });
  expect(failureText({ ...failed, kind: "task", name: "Report", error: null })).toEqual({
    what: "The task “Report” did not run to its end",
    why: "no reason is known",
  });
  expect(failurePath(failed)).toEqual(["agents", "tea"]);
  expect(failurePath({ ...failed, conversationId: "c" })).toEqual(["conversations", "c"]);
});
