import { describe, expect, test, vi } from "vitest";
import { CurrentPolicies } from "../../../src/core/policies.ts";
import { budgetPeriods, turns, userBudgetPeriods } from "../../../src/db/schema.ts";
import { createEngine } from "../../../src/engine.ts";
import { finish, gate, type ScriptStep, scriptedModel, text, toolCall } from "../../scripted-model.ts";
import { chatHarness, eventually, readEvents } from "./chat.ts";

const spent = "The end user's monthly token budget is used up";
const agentSpent = "The agent's monthly token budget is used up";
/** The test clock begins in January 2026. */
const month = "2026-01-01";
const secondsOfJanuary = 31 * 24 * 60 * 60;

const taking = (input: number, output: number): ScriptStep => ({
  parts: [...text("Yes."), finish("stop", { input, output })],
});

/** An agent whose end users have a budget each. */
async function budgeted(script: Parameters<typeof scriptedModel>[0], fields: Record<string, unknown>) {
  const model = scriptedModel(script);
  const h = await chatHarness(model, { maxOutputTokens: 100, memoryEnabled: false, ...fields });
  const { db } = h.services.database;
  const columns = {
    subject: userBudgetPeriods.subject,
    month: userBudgetPeriods.month,
    used: userBudgetPeriods.used,
    reserved: userBudgetPeriods.reserved,
  };
  return {
    ...h,
    db,
    model,
    change: async (json: object) => {
      const { slug, headers } = h.agent;
      expect((await h.request(`/api/instances/${slug}`, { method: "PATCH", headers, json })).status).toBe(200);
    },
    /** The error of a turn of `user`, or undefined. */
    say: async (user: string | null, chat = "c", content = "Hi") => {
      const events = await readEvents(await h.native(content, { chat_id: chat, ...(user === null ? {} : { user }) }));
      return events.find(({ event }) => event === "error")?.data.message;
    },
    periods: () =>
      db.select(columns).from(userBudgetPeriods).orderBy(userBudgetPeriods.subject, userBudgetPeriods.month),
    ofAgent: () => db.select({ used: budgetPeriods.used, reserved: budgetPeriods.reserved }).from(budgetPeriods),
  };
}

describe("an end user with a budget", () => {
  test("is refused once the month's tokens are used, and no other user is", async () => {
    const h = await budgeted(() => taking(900, 60), { userMonthlyTokenBudget: 1_000 });
    expect(await h.say("ada")).toBeUndefined();
    expect(await h.periods()).toEqual([{ subject: "web:ada", month, used: 960, reserved: 0 }]);
    expect(await h.say("ada", "another")).toBe(spent);
    const refused = await h.complete("Hi", { chat_id: "c", user: "ada" });
    expect([refused.status, (await refused.json()).message]).toEqual([429, spent]);
    expect(Object.fromEntries(refused.headers)).toMatchObject({
      "retry-after": String(secondsOfJanuary),
      "x-ratelimit-limit": "1000",
      "x-ratelimit-remaining": "0",
    });
    expect(await h.say("eve", "hers")).toBeUndefined();
    // Without a user id, the conversation counts as the user.
    expect(await h.say(null, "mine")).toBeUndefined();
    expect(await h.say(null, "mine")).toBe(spent);
    expect(h.model.calls).toHaveLength(3);
    expect((await h.stored()).turns).toHaveLength(3);
    expect(await h.ofAgent()).toEqual([]);
  });

  test("has a new one with the next month", async () => {
    const h = await budgeted(() => taking(900, 60), { userMonthlyTokenBudget: 1_000 });
    await h.say("ada");
    await h.clock.advance(secondsOfJanuary * 1000 - 1);
    const last = await h.complete("Hi", { user: "ada" });
    expect([last.status, last.headers.get("Retry-After")]).toEqual([429, "1"]);
    await h.clock.advance(1);
    expect(await h.say("ada", "d")).toBeUndefined();
    expect(await h.periods()).toEqual([
      { subject: "web:ada", month, used: 960, reserved: 0 },
      { subject: "web:ada", month: "2026-02-01", used: 960, reserved: 0 },
    ]);
  });

  test("can't spend more with many calls at once", async () => {
    const all = gate();
    const h = await budgeted(() => ({ opens: all.promise, ...taking(30, 100) }), { userMonthlyTokenBudget: 2_000 });
    const said = Array.from({ length: 12 }, (_, index) => h.say("ada", `c${index}`));
    await eventually(async () => (await h.stored()).turns.length > 0 && (await Promise.race(said)) === spent);
    const held = await h.periods();
    expect(held).toEqual([{ subject: "web:ada", month, used: 0, reserved: expect.any(Number) }]);
    expect(held[0]?.reserved).toBeLessThanOrEqual(2_000);
    all.open();
    const answered = (await Promise.all(said)).filter((error) => error === undefined).length;
    expect([answered > 0, answered < 12]).toEqual([true, true]);
    expect(await h.periods()).toEqual([{ subject: "web:ada", month, used: answered * 130, reserved: 0 }]);
  });

  test("may have none at all", async () => {
    const h = await budgeted([], { userMonthlyTokenBudget: 0 });
    expect(await h.say("ada")).toBe(spent);
    expect(await h.periods()).toEqual([]);
  });

  test("asks for each call of a turn, which ends where there is nothing left", async () => {
    const h = await budgeted(
      [
        {
          parts: [
            ...text("Let me look."),
            ...toolCall("c", "currentTime", {}),
            finish("tool-calls", { input: 600, output: 20 }),
          ],
        },
      ],
      { userMonthlyTokenBudget: 1_000, monthlyTokenBudget: 100_000 },
    );
    const path = `/api/instances/${h.agent.slug}/tools`;
    const json = { enabled: ["currentTime"] };
    expect((await h.request(path, { method: "PATCH", headers: h.agent.headers, json })).status).toBe(200);
    expect(await h.say("ada")).toBe(spent);
    expect(h.model.calls).toHaveLength(1);
    expect(await h.periods()).toEqual([{ subject: "web:ada", month, used: 620, reserved: 0 }]);
    expect(await h.ofAgent()).toEqual([{ used: 620, reserved: 0 }]);
  });

  test("is charged what was held for a turn whose process died", async () => {
    const h = await budgeted(() => ({ opens: new Promise(() => {}) }), { userMonthlyTokenBudget: 10_000 });
    void h.say("ada");
    await h.model.called(1);
    const [turn] = await h.db.select().from(turns);
    expect(turn).toMatchObject({ reserved: 0, userReserved: expect.any(Number) });
    await h.db.update(turns).set({ leaseUntil: new Date(0) });
    // Another process finds its turn dead.
    await createEngine({ ...h.services, policies: new CurrentPolicies() }).tick();
    expect(await h.periods()).toEqual([{ subject: "web:ada", month, used: turn?.userReserved, reserved: 0 }]);
    expect(turn?.userReserved).toBeGreaterThan(100);
  });

  test("gets back the tokens reserved for a turn that was not opened", async () => {
    const all = gate();
    const h = await budgeted(() => ({ opens: all.promise, ...taking(10, 10) }), { userMonthlyTokenBudget: 1_000_000 });
    const said = Array.from({ length: 17 }, () => h.say("ada"));
    await vi.waitFor(async () => expect(await h.db.select().from(turns)).toHaveLength(17));
    expect(await h.say("ada")).toBe("Too many turns wait in this conversation");
    const held = (await h.db.select().from(turns)).reduce((sum, { userReserved }) => sum + userReserved, 0);
    expect(await h.periods()).toEqual([{ subject: "web:ada", month, used: 0, reserved: held }]);
    all.open();
    await Promise.all(said);
    expect(await h.periods()).toEqual([{ subject: "web:ada", month, used: 17 * 20, reserved: 0 }]);
  });
});

test("an anonymous caller has no budget, and leaves none", async () => {
  const h = await budgeted(() => taking(10, 10), { userMonthlyTokenBudget: 0 });
  expect((await h.complete("Hi")).status).toBe(200);
  expect((await h.complete("Hi", { user: "ada" })).status).toBe(429);
  expect(await h.periods()).toEqual([]);
  await h.change({ monthlyTokenBudget: 100_000 });
  expect((await h.complete("Hi")).status).toBe(200);
  expect(await h.ofAgent()).toEqual([{ used: 40, reserved: 0 }]);
});

test("a row two months old is deleted, once an hour", async () => {
  const h = await budgeted(() => taking(10, 10), { userMonthlyTokenBudget: 1_000_000 });
  const engine = createEngine({ ...h.services, policies: new CurrentPolicies() });
  const months = async () => (await h.periods()).map((period) => period.month);
  await h.say("ada");
  await h.clock.advance(secondsOfJanuary * 1000);
  await h.say("ada");
  await engine.tick();
  expect(await months()).toEqual([month, "2026-02-01"]);
  await h.clock.advance(28 * 24 * 60 * 60_000);
  await engine.tick();
  expect(await months()).toEqual(["2026-02-01"]);
  await h.db.update(userBudgetPeriods).set({ month: "2025-12-01" });
  await h.clock.advance(60 * 60_000 - 1);
  await engine.tick();
  expect(await months()).toEqual(["2025-12-01"]);
  await h.clock.advance(1);
  await engine.tick();
  expect(await months()).toEqual([]);
});

describe("along with the budget of the agent", () => {
  test("both are held, and both are charged", async () => {
    const h = await budgeted(() => taking(100, 20), { userMonthlyTokenBudget: 10_000, monthlyTokenBudget: 10_000 });
    expect(await h.say("ada")).toBeUndefined();
    expect(await h.periods()).toEqual([{ subject: "web:ada", month, used: 120, reserved: 0 }]);
    expect(await h.ofAgent()).toEqual([{ used: 120, reserved: 0 }]);
  });

  test("tokens that one refuses are not held by the other either", async () => {
    const h = await budgeted([], { userMonthlyTokenBudget: 10_000, monthlyTokenBudget: 1 });
    expect(await h.say("ada")).toBe(agentSpent);
    expect(await h.say(null, "of a stranger")).toBe(agentSpent);
    expect(await h.periods()).toEqual([]);
    await h.change({ userMonthlyTokenBudget: 1, monthlyTokenBudget: 10_000 });
    expect(await h.say("ada")).toBe(spent);
    expect(await h.ofAgent()).toEqual([]);
  });
});

describe("a budget that comes in the middle of a month", () => {
  test("counts the turns of the month before it, and those under way", async () => {
    const slow = gate();
    const h = await budgeted(
      (_, index) => (index === 1 ? { opens: slow.promise, ...taking(40, 2) } : taking(900, 60)),
      {},
    );
    await h.say("ada");
    const said = h.say("eve", "d");
    await h.model.called(2);
    await h.db.update(turns).set({ createdAt: new Date("2026-01-15") });
    await h.change({ userMonthlyTokenBudget: 1_000 });
    expect(await h.say("ada")).toBe(spent);
    slow.open();
    expect(await said).toBeUndefined();
    expect(await h.periods()).toEqual([
      { subject: "web:ada", month, used: 960, reserved: 0 },
      { subject: "web:eve", month, used: 42, reserved: 0 },
    ]);
    await h.change({ userMonthlyTokenBudget: null });
    expect(await h.say("ada")).toBeUndefined();
  });

  test("counts the turns of the time without it, as often as it comes", async () => {
    const h = await budgeted(() => taking(900, 60), { userMonthlyTokenBudget: 10_000 });
    await h.say("ada");
    await h.change({ userMonthlyTokenBudget: null });
    await h.say("ada");
    await h.db.update(turns).set({ createdAt: new Date("2026-01-15") });
    await h.change({ userMonthlyTokenBudget: 1_920 });
    expect(await h.periods()).toEqual([{ subject: "web:ada", month, used: 1_920, reserved: 0 }]);
    expect(await h.say("ada")).toBe(spent);
  });
});

test("a turn takes one statement before the model, and one after it", async () => {
  const h = await budgeted(() => taking(10, 10), { userMonthlyTokenBudget: 100_000, monthlyTokenBudget: 100_000 });
  await h.say("ada");
  const { database } = h.services;
  const { query } = database;
  const asked: string[] = [];
  database.query = ((...[sql, values]: Parameters<typeof query>) => {
    asked.push(`${h.model.calls.length} ${sql.trim().slice(0, 4)}`);
    return query.call(database, sql, values);
  }) as typeof query;
  await h.say("ada");
  expect(asked).toEqual(["1 with", "2 with"]);
});

test("the budgets of an agent's end users go with the agent", async () => {
  const h = await budgeted(() => taking(10, 10), { userMonthlyTokenBudget: 1_000 });
  await h.say("ada");
  await h.request(`/api/instances/${h.agent.slug}`, { method: "DELETE", headers: h.agent.headers });
  expect(await h.periods()).toEqual([]);
});
