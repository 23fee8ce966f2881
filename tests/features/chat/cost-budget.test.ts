import { APICallError } from "@ai-sdk/provider";
import { sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { openEdition } from "../../../src/core/edition.ts";
import { CurrentPolicies } from "../../../src/core/policies.ts";
import { agents, budgetPeriods, turns, userBudgetPeriods } from "../../../src/db/schema.ts";
import { createEngine } from "../../../src/engine.ts";
import { checkBudgets } from "../../../src/features/health/checks.ts";
import { inspectBudgets } from "../../../src/features/turns/index.ts";
import { managedEdition } from "../../harness.ts";
import { finish, gate, type ScriptStep, scriptedModel, text, toolCall } from "../../scripted-model.ts";
import { asking, ownTurns } from "../../turns.ts";
import { chatHarness, readEvents } from "./chat.ts";
import { providersOf } from "./connections.ts";

const spent = "The agent's monthly cost budget is used up";
const userSpent = "The end user's monthly cost budget is used up";

/** A reply with the given token counts. */
const taking = (input: number, output: number): ScriptStep => ({
  parts: [...text("Yes."), finish("stop", { input, output })],
});

/** A prompt token costs one micro, a token of a reply ten. */
const price = { provider: "openai", model: "m", inputPerMillion: 1, outputPerMillion: 10 };

/** An agent with at most 100 tokens a reply, which are 1,000 micros, and reads of its budgets. */
async function budgeted(script: Parameters<typeof scriptedModel>[0], fields: object = {}, edition = managedEdition) {
  const model = scriptedModel(script);
  const h = await chatHarness(model, { provider: "openai", model: "m", maxOutputTokens: 100, ...fields }, { edition });
  const { db } = h.services.database;
  const { slug, headers } = h.agent;
  const change = async (json: object) => {
    expect((await h.request(`/api/instances/${slug}`, { method: "PATCH", headers, json })).status).toBe(200);
  };
  const setPrices = async (...prices: object[]) => {
    const path = "/api/organizations/acme/model-prices";
    expect((await h.request(path, { method: "PUT", headers, json: { prices } })).status).toBe(200);
  };
  if (edition === managedEdition) await setPrices(price);
  const { costUsed, costReserved } = budgetPeriods;
  const ofUsers = { used: userBudgetPeriods.costUsed, reserved: userBudgetPeriods.costReserved };
  return {
    ...h,
    db,
    model,
    change,
    setPrices,
    say: async (chat: string, user?: string) => readEvents(await h.native("Hi", { chat_id: chat, user })),
    /** The money of the month. */
    periods: () => db.select({ used: costUsed, reserved: costReserved }).from(budgetPeriods),
    userPeriods: () => db.select(ofUsers).from(userBudgetPeriods).orderBy(userBudgetPeriods.subject),
    turnsOf: () => db.select().from(turns).orderBy(turns.createdAt, turns.id),
  };
}

const error = (events: Awaited<ReturnType<typeof readEvents>>) =>
  events.find(({ event }) => event === "error")?.data.message;

describe("an agent with a budget of money", () => {
  test("refuses what the month has no money for, before anything is asked", async () => {
    const h = await budgeted([taking(900, 60)], { monthlyCostBudget: 2_500 });
    expect(error(await h.say("a"))).toBeUndefined();
    expect(await h.periods()).toEqual([{ used: 1_500, reserved: 0 }]);
    expect((await h.turnsOf())[0]).toMatchObject({ costMicros: 1_500 });
    const refused = await h.complete("Hi", { chat_id: "b" });
    expect([refused.status, (await refused.json()).message]).toEqual([429, spent]);
    expect(refused.headers.get("x-ratelimit-limit")).toBe("2500");
    expect([(await h.turnsOf()).length, h.model.calls.length]).toEqual([1, 1]);
    await h.change({ monthlyCostBudget: null });
    expect((await h.complete("Hi", { chat_id: "b" })).status).not.toBe(429);
  });

  test("begins with what the turns of the month cost", async () => {
    const h = await budgeted(() => taking(900, 60));
    await h.say("a", "ada");
    await h.db.update(turns).set({ createdAt: new Date("2026-01-15") });
    await h.change({ monthlyCostBudget: 2_500, userMonthlyCostBudget: 2_500 });
    expect(error(await h.say("b", "ada"))).toBe(userSpent);
    expect(await h.userPeriods()).toEqual([{ used: 1_500, reserved: 0 }]);
    expect(error(await h.say("b", "bob"))).toBe(spent);
    await h.change({ monthlyCostBudget: 10_000, userMonthlyCostBudget: 10_000 });
    expect(error(await h.say("b", "ada"))).toBeUndefined();
    expect(await h.periods()).toEqual([{ used: 3_000, reserved: 0 }]);
    expect(await h.userPeriods()).toEqual([{ used: 3_000, reserved: 0 }]);
  });

  test("tells which of two budgets is used up, and the refused one holds nothing of the other", async () => {
    const h = await budgeted(() => taking(100, 10), { monthlyCostBudget: 100_000, monthlyTokenBudget: 100_000 });
    await h.change({ userMonthlyCostBudget: 1_000_000 });
    await h.say("a", "ada");
    const rows = async () => [await h.periods(), await h.userPeriods()];
    const before = await rows();
    await h.change({ monthlyCostBudget: 900 });
    expect(error(await h.say("b", "ada"))).toBe(spent);
    await h.change({ monthlyCostBudget: 100_000, monthlyTokenBudget: 120 });
    expect(error(await h.say("b", "ada"))).toBe("The agent's monthly token budget is used up");
    await h.change({ monthlyTokenBudget: null, userMonthlyCostBudget: 0 });
    expect(error(await h.say("b", "ada"))).toBe(userSpent);
    expect(await rows()).toEqual(before);
  });

  test("reserves the tokens used so far and the next call of a turn, and stops midway", async () => {
    const call = { parts: [...toolCall("c", "currentTime", {}), finish("tool-calls", { input: 600, output: 20 })] };
    const h = await budgeted([call, taking(700, 50), call], { monthlyCostBudget: 100_000 });
    const tools = { method: "PATCH", headers: h.agent.headers, json: { enabled: ["currentTime"] } };
    expect((await h.request(`/api/instances/${h.agent.slug}/tools`, tools)).status).toBe(200);
    await h.say("a");
    expect(await h.periods()).toEqual([{ used: 800 + 1_200, reserved: 0 }]);
    const [turn] = await h.turnsOf();
    expect(turn?.costMicros).toBe(2_000);
    // The first call, and for the second one the tokens of the first with the tool's result, and a whole reply.
    expect(turn?.costReserved).toBeGreaterThan(800 + 620 + 1_000);
    expect(turn?.costReserved).toBeLessThan(800 + 620 + 1_000 + 100);
    // Enough for the first call of another turn, and not for its second one.
    await h.change({ monthlyCostBudget: 2_000 + 2_300 });
    expect(error(await h.say("b"))).toBe(spent);
    expect(h.model.calls).toHaveLength(3);
    expect(await h.periods()).toEqual([{ used: 2_000 + 800, reserved: 0 }]);
  });

  test("counts nothing for a model without a price", async () => {
    const h = await budgeted(() => taking(900, 60), { model: "o9", monthlyCostBudget: 1 });
    expect(error(await h.say("a"))).toBeUndefined();
    expect(await h.periods()).toEqual([{ used: 0, reserved: 0 }]);
    expect((await h.turnsOf())[0]).toMatchObject({ costMicros: null, costReserved: 0 });
  });

  test("keeps its budget without the feature, which nobody sets then", async () => {
    const h = await budgeted(() => taking(900, 60), { model: "gpt-5-mini" }, openEdition);
    await h.change({ monthlyCostBudget: 5, name: "Tea" });
    const { headers, slug } = h.agent;
    const { instance } = await (await h.request(`/api/instances/${slug}`, { headers })).json();
    expect(instance).toMatchObject({ name: "Tea", monthlyCostBudget: null });
    await h.db.update(agents).set({ monthlyCostBudget: 5, revision: sql`${agents.revision} + 1` });
    expect(error(await h.say("a"))).toBe(spent);
    await h.change({ monthlyCostBudget: null });
    expect(error(await h.say("a"))).toBe(spent);
  });

  test("pays for its background calls", async () => {
    const h = await budgeted(() => taking(80, 30), { fastModel: "m", monthlyCostBudget: 2_000 });
    const { complete } = ownTurns(h.services);
    const ask = () => complete({ slug: h.agent.slug, revision: 0 }, "x".repeat(300), asking());
    expect(await ask()).toBe("Yes.");
    expect(await h.periods()).toEqual([{ used: 380, reserved: 0 }]);
    await h.change({ monthlyCostBudget: 1_400 });
    await expect(ask()).rejects.toMatchObject({ code: "rate-limited", message: spent });
    expect(await h.periods()).toEqual([{ used: 380, reserved: 0 }]);
  });
});

describe("money that is reserved", () => {
  test("is that of the dearest model that may answer, and a fallback reserves nothing more", async () => {
    const answers = gate();
    const h = await budgeted(
      (_, index) => (index === 0 ? { fail: failure } : { opens: answers.promise, ...taking(100, 10) }),
      {
        monthlyCostBudget: 1_000_000,
      },
    );
    await h.setPrices(price, {
      ...price,
      provider: "mistral",
      model: "dear",
      inputPerMillion: 5,
      outputPerMillion: 50,
    });
    const providers = providersOf(h);
    const [cheap, dear] = [await providers.connect("cheap", { provider: "openai" }), await providers.connect("dear")];
    await providers.bind(h.agent.slug, "chat", cheap, {
      model: "m",
      fallbacks: [{ connectionId: dear, model: "dear" }],
    });
    const said = h.say("a");
    await h.model.called(2);
    const [turn] = await h.turnsOf();
    const prompt = (turn?.reserved ?? 0) - 100;
    const held = prompt * 5 + 100 * 50;
    expect(turn?.costReserved).toBe(held);
    expect(await h.periods()).toEqual([{ used: 0, reserved: held }]);
    answers.open();
    expect(error(await said)).toBeUndefined();
    expect(await h.periods()).toEqual([{ used: 1_000, reserved: 0 }]);
    expect((await h.turnsOf())[0]).toMatchObject({ costMicros: 1_000, costReserved: held });
  });

  test("of a turn whose process died counts as used, for the agent and the end user", async () => {
    const h = await budgeted(() => ({ opens: new Promise(() => {}) }), {
      monthlyCostBudget: 10_000,
      userMonthlyCostBudget: 10_000,
    });
    const said = h.say("a", "ada");
    await h.model.called(1);
    const cost = (await h.turnsOf())[0]?.costReserved ?? 0;
    expect(cost).toBeGreaterThan(1_000);
    expect([await h.periods(), await h.userPeriods()]).toEqual([
      [{ used: 0, reserved: cost }],
      [{ used: 0, reserved: cost }],
    ]);
    await h.db.update(turns).set({ leaseUntil: new Date(0) });
    await createEngine({ ...h.services, policies: new CurrentPolicies() }).tick();
    expect([await h.periods(), await h.userPeriods()]).toEqual([
      [{ used: cost, reserved: 0 }],
      [{ used: cost, reserved: 0 }],
    ]);
    await h.engine.renewLeases();
    await said;
  });

  test("for no call is told of by doctor, and released", async () => {
    const h = await budgeted(() => ({ opens: new Promise(() => {}) }), { monthlyCostBudget: 100_000 });
    const said = h.say("a");
    await h.model.called(1);
    const before = await h.periods();
    const check = async () => checkBudgets(await inspectBudgets(h.services.database));
    await h.db.update(budgetPeriods).set({ costReserved: sql`${budgetPeriods.costReserved} + 8213` });
    expect(await check()).toMatchObject({ status: "warn", message: expect.stringContaining("8213 micros") });
    await h.engine.tick();
    expect([(await check()).status, await h.periods()]).toEqual(["ok", before]);
    await h.engine.stop(0);
    await said;
    expect(await h.periods()).toEqual([expect.objectContaining({ reserved: 0 })]);
  });

  test("stays that of its turn when the price rises meanwhile", async () => {
    const answers = gate();
    const h = await budgeted(() => ({ opens: answers.promise, ...taking(100, 10) }), { monthlyCostBudget: 100_000 });
    const said = h.say("a");
    await h.model.called(1);
    await h.setPrices({ ...price, inputPerMillion: 100 });
    answers.open();
    await said;
    // The turn ends by the prices with which it began.
    expect(await h.periods()).toEqual([{ used: 200, reserved: 0 }]);
    expect((await h.turnsOf())[0]?.costMicros).toBe(200);
  });
});

const failure = new APICallError({ message: "no", url: "https://example.com", requestBodyValues: {}, statusCode: 503 });

test("500 turns at once spend exactly what a budget covers, of the agent and of an end user", async () => {
  let reserved = 0;
  const h = await budgeted(() => taking(reserved - 100, 100), {
    monthlyCostBudget: 1_000_000_000,
    userMonthlyCostBudget: 1_000_000_000,
  });
  /** The tokens that a turn reserves: the script takes as many, so that its real cost is the reserved one. */
  reserved = 100;
  await h.say("c100", "ada");
  const [probe] = await h.turnsOf();
  reserved = probe?.reserved ?? 0;
  const cost = probe?.costReserved ?? 0;
  const [before, userBefore] = [await h.periods(), await h.userPeriods()];
  const [agentBudget, userBudget] = [(before[0]?.used ?? 0) + 200 * cost, (userBefore[0]?.used ?? 0) + 60 * cost];
  await h.change({ monthlyCostBudget: agentBudget, userMonthlyCostBudget: userBudget });

  const statuses: string[] = [];
  const race = async (index: number, user: string) => {
    const response = await h.complete("Hi", { chat_id: `c${101 + index}`, user });
    statuses.push(response.status === 200 ? "ok" : (await response.json()).message);
  };
  // Each fifth is Ada's; everybody else comes once.
  const racing = Array.from({ length: 500 }, (_, index) => race(index, index % 5 === 0 ? "ada" : `user-${index}`));
  let most = 0;
  const done = Promise.all(racing).then(() => true);
  while (!(await Promise.race([done, new Promise<false>((resolve) => setImmediate(resolve, false))]))) {
    const [period] = await h.periods();
    most = Math.max(most, (period?.used ?? 0) + (period?.reserved ?? 0));
  }
  expect(most).toBeLessThanOrEqual(agentBudget);
  const counted = Map.groupBy(statuses, (status) => status);
  expect([counted.get("ok")?.length, statuses.length]).toEqual([200, 500]);
  expect((counted.get(spent)?.length ?? 0) + (counted.get(userSpent)?.length ?? 0)).toBe(300);
  const all = await h.turnsOf();
  const total = all.reduce((sum, { costMicros }) => sum + (costMicros ?? 0), 0);
  expect(await h.periods()).toEqual([{ used: total, reserved: 0 }]);
  expect(total).toBe(agentBudget);
  const ofAda = all
    .filter(({ subject }) => subject === "web:ada")
    .reduce((sum, turn) => sum + (turn.costMicros ?? 0), 0);
  expect(ofAda).toBeLessThanOrEqual(userBudget);
  const users = await h.userPeriods();
  expect(users.every((user) => user.reserved === 0)).toBe(true);
  expect(users.reduce((sum, { used }) => sum + used, 0)).toBe(total);
});
