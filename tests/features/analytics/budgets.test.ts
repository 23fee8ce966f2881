import { expect, test } from "vitest";
import { agents, budgetPeriods, userBudgetPeriods } from "../../../src/db/schema.ts";
import { harness, managedEdition } from "../../harness.ts";
import { plantTurns } from "./plant.ts";

test("budgets of agents and of their end users, nearest to the limit first", async () => {
  const h = await harness({ edition: managedEdition });
  const first = await h.agent({ name: "First", monthlyTokenBudget: 1000, userMonthlyCostBudget: 50 });
  const fields = { monthlyTokenBudget: 200, userMonthlyTokenBudget: 100, monthlyCostBudget: 4000 };
  const second = await h.agent({ name: "Second", ...fields });
  await h.agent({ name: "Third" });
  const now = new Date(h.clock.now());
  const month = `${now.toISOString().slice(0, 7)}-01`;
  const { db } = h.services.database;
  const idOf = async (slug: string) => {
    const found = (await db.select().from(agents)).find((one) => one.slug === slug);
    if (!found) throw new Error("There is no such agent");
    return found.id;
  };
  const agentId = await idOf(first.slug);
  await db.insert(budgetPeriods).values([
    { agentId, month, used: 250, reserved: 10 },
    { agentId, month: "2020-01-01", used: 999 },
  ]);
  // None of its tokens are counted yet: its next call finds this month's turns.
  await plantTurns(h, [{ at: now, agent: second.slug, fields: { costMicros: 30 } }]);
  await db.insert(userBudgetPeriods).values([
    { agentId: await idOf(second.slug), subject: "web:ada", month, used: 20 },
    { agentId: await idOf(second.slug), subject: "web:bob", month, used: 90 },
    { agentId, subject: "web:bob", month, used: 90, costUsed: 40, costReserved: 5 },
  ]);
  const ask = async (headers: Record<string, string>) => {
    const response = await h.request("/api/analytics/budgets", { headers });
    expect(response.status).toBe(200);
    return response.json();
  };
  const [of, other] = [
    { instanceId: first.slug, instanceName: "First" },
    { instanceId: second.slug, instanceName: "Second" },
  ];
  expect(await ask(await h.as("viewer"))).toEqual({
    month,
    agents: [
      { ...other, budget: 200, used: 110, reserved: 0 },
      { ...of, budget: 1000, used: 250, reserved: 10 },
    ],
    users: [
      { ...other, user: "bob", userChannel: "web", budget: 100, used: 90, reserved: 0 },
      { ...other, user: "ada", userChannel: "web", budget: 100, used: 20, reserved: 0 },
    ],
    costs: {
      currency: "USD",
      agents: [{ ...other, budget: 4000, used: 30, reserved: 0 }],
      users: [{ ...of, user: "bob", userChannel: "web", budget: 50, used: 40, reserved: 5 }],
    },
  });
  const nothing = { agents: [], users: [] };
  const unreached = { month, ...nothing, costs: { currency: "USD", ...nothing } };
  expect(await ask(await h.as("viewer", { reach: false }))).toEqual(unreached);
});
