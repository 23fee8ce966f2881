import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { agents, providerBindings } from "../../../src/db/schema.ts";
import { checkContent } from "../../../src/engine.ts";
import { harness } from "../../harness.ts";
import { spyOnStatements } from "../../statements.ts";
import { withProviders } from "./providers.ts";

interface Listed {
  slug: string;
  providerProblem: string | null;
}

test("agents whose bound connection may not answer say why, in lists, alone and to doctor", async () => {
  const h = await withProviders();
  const other = await h.agent({ slug: "other" });
  const { id } = await h.connect(h.shared);
  await h.answer(h.bind("chat", { connectionId: id }));
  const problems = async () => {
    const { instances } = await h.answer(h.send("GET", "/api/instances"));
    const { instance } = await h.answer(h.send("GET", `/api/instances/${h.slug}`));
    const listed = instances.map(({ slug, providerProblem }: Listed) => [slug, providerProblem]);
    const checks = checkContent(await h.engine.inspect(), "agent-engine");
    const [check] = checks.filter(({ name }) => name === "provider connections");
    return [
      Object.fromEntries(listed)[h.slug],
      Object.fromEntries(listed)[other.slug],
      instance.providerProblem,
      check?.message,
    ];
  };
  const advice = "GET /api/instances/{slug}/provider-roles shows why, and what can be bound instead";
  const told = (why: string) =>
    `The model of these agents may not answer, so that calls are 503: ${h.slug} (${why}). ${advice}`;
  expect(await problems()).toEqual([null, null, null, undefined]);
  await h.answer(h.send("PATCH", `${h.shared}/${id}`, { enabled: false }));
  expect(await problems()).toEqual(["disabled", null, "disabled", told("disabled")]);
  await h.answer(h.send("PATCH", `${h.shared}/${id}`, { enabled: true, apiKey: null }));
  expect(await problems()).toEqual(["no-key", null, "no-key", told("without its key")]);
  await h.admit({ admitted: [{ provider: "mistral", models: null }] });
  expect(await problems()).toEqual(["not-admitted", null, "not-admitted", told("not admitted")]);
  const renamed = await h.answer(h.send("PATCH", `/api/instances/${h.slug}`, { name: "New" }));
  expect(renamed.instance.providerProblem).toBe("not-admitted");
});

test("a list of many agents takes as many statements as a list of one", async () => {
  const h = await withProviders();
  const { db } = h.services.database;
  const { id } = await h.connect(h.shared, { enabled: false });
  const list = async () => {
    const { texts, restore } = spyOnStatements(h.services.database);
    const { instances } = await h.answer(h.send("GET", "/api/instances"));
    const statements = texts().length;
    restore();
    return [statements, instances.filter(({ providerProblem }: Listed) => providerProblem === "disabled").length];
  };
  const [one] = await list();
  expect(one).toBeGreaterThan(4);
  const [agent] = await db.select().from(agents).where(eq(agents.slug, h.slug));
  if (!agent) throw new Error("The agent is gone");
  const rows = Array.from({ length: 60 }, (_, at) => ({
    ...agent,
    id: crypto.randomUUID(),
    slug: `many-${at}`,
    authKeyHmac: null,
  }));
  await db.insert(agents).values(rows);
  const role = { role: "chat" as const, connectionId: id };
  await db.insert(providerBindings).values(rows.map(({ id: agentId }) => ({ agentId, ...role })));
  expect(await list()).toEqual([one, 60]);
});

test("a budget in money without a price is told to doctor", async () => {
  const h = await withProviders();
  const { id } = await h.connect(h.shared);
  await h.answer(h.bind("chat", { connectionId: id, model: "gpt-of-ours" }));
  const { db } = h.services.database;
  const budget = async () => {
    const checks = checkContent(await h.engine.inspect(), "agent-engine");
    return checks.filter(({ name, status }) => name === "budgets" && status === "warn").map(({ message }) => message);
  };
  expect(await budget()).toEqual([]);
  await db.update(agents).set({ userMonthlyCostBudget: 0 }).where(eq(agents.slug, h.slug));
  const unpriced = `Budgets in money count nothing for models without a price, in ${h.slug} (openai:gpt-of-ours)`;
  expect(await budget()).toEqual([`${unpriced}: set one with PUT /api/organizations/{orgSlug}/model-prices`]);
  const price = { provider: "openai", model: "gpt-of-*", inputPerMillion: 1, outputPerMillion: 2, currency: "USD" };
  await h.answer(h.send("PUT", "/api/organizations/acme/model-prices", { prices: [price] }));
  expect(await budget()).toEqual([]);
});

test("the catalogue of models knows the organization's default connection, and without the feature none", async () => {
  const h = await withProviders();
  const configured = async () => {
    const { providers } = await h.answer(h.send("GET", "/api/instances/models"));
    return [providers.openai.configured, providers.mistral.configured];
  };
  expect(await configured()).toEqual([false, false]);
  await h.connect(h.shared, { isDefault: true });
  expect(await configured()).toEqual([true, false]);

  const open = await harness();
  const { slug, headers } = await open.agent();
  const { instance } = await (await open.request(`/api/instances/${slug}`, { headers })).json();
  expect(instance.providerProblem).toBeNull();
});
