import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { agents } from "../../../src/db/schema.ts";
import { harness, managedEdition } from "../../harness.ts";
import { auditOf, refusal } from "../organizations/callers.ts";

const path = "/api/organizations/acme/model-prices";
const mini = { provider: "openai", model: "gpt-5-mini", inputPerMillion: 0.25, outputPerMillion: 2 };

async function world() {
  const h = await harness({ edition: managedEdition });
  const headers = await h.as("owner");
  const put = (prices: unknown, by = headers) => h.request(path, { method: "PUT", headers: by, json: { prices } });
  const read = async (by = headers) => (await h.request(path, { headers: by })).json();
  return { ...h, h, headers, put, read };
}

test("an organization replaces its prices, and the list prices stay beside them", async () => {
  const { h, put, read, agent, services } = await world();
  const before = await read();
  expect(before).toMatchObject({ prices: [], currency: "USD", listPrices: { asOf: "2026-10-10" } });
  const listed = { provider: "anthropic", model: "claude-haiku-4-5", inputPerMillion: 1, cachedInputPerMillion: 0.1 };
  const source = "https://platform.claude.com/docs/en/about-claude/pricing";
  expect(before.listPrices.prices).toContainEqual(
    expect.objectContaining({ ...listed, cacheWritePerMillion: 1.25, outputPerMillion: 5, currency: "USD", source }),
  );

  const { slug } = await agent();
  const revision = async () => {
    const [row] = await services.database.db.select().from(agents).where(eq(agents.slug, slug));
    return row?.revision ?? 0;
  };
  const first = await revision();
  const euros = [
    { ...mini, cachedInputPerMillion: 0.000001, currency: "EUR" },
    { ...mini, model: "meta/*", inputPerMillion: 10_000, cacheWritePerMillion: 0, currency: "EUR" },
    { ...mini, provider: "ollama", model: "*", inputPerMillion: 0, outputPerMillion: 0, currency: "EUR" },
  ];
  const answer = await put(euros.toReversed());
  expect(answer.status).toBe(200);
  const prices = [
    { ...euros[2], cachedInputPerMillion: null, cacheWritePerMillion: null },
    { ...euros[0], cacheWritePerMillion: null },
    { ...euros[1], cachedInputPerMillion: null },
  ];
  expect(await answer.json()).toEqual({ prices, currency: "EUR", listPrices: before.listPrices });
  expect(await read()).toEqual({ prices, currency: "EUR", listPrices: before.listPrices });
  // In force with the next turn of every agent, on every replica.
  expect(await revision()).toBe(first + 1);
  const entry = { action: "model-prices.update", target: "acme", summary: { prices: 3, currency: "EUR" } };
  expect((await auditOf(h)).at(-1)).toMatchObject(entry);

  // What is read can be written: it is the same.
  await put((await read()).prices);
  expect(await revision()).toBe(first + 1);
  expect((await auditOf(h)).filter(({ action }) => action === entry.action)).toHaveLength(1);

  await put([]);
  expect(await read()).toEqual(before);
  expect(await revision()).toBe(first + 2);
});

test("prices that can't be counted are refused", async () => {
  const { put, read } = await world();
  const many = Array.from({ length: 201 }, (_, index) => ({ ...mini, model: `m${index}` }));
  for (const [prices, message] of [
    [[{ ...mini, inputPerMillion: 0.0000001 }], "prices.0.inputPerMillion: must have at most 6 decimals"],
    [[{ ...mini, inputPerMillion: -1 }], "prices.0.inputPerMillion: must be 0 to 10000"],
    [[{ ...mini, outputPerMillion: 10_001 }], "prices.0.outputPerMillion: must be 0 to 10000"],
    [[{ ...mini, outputPerMillion: "2" }], "prices.0.outputPerMillion"],
    [[{ ...mini, currency: "usd" }], "prices.0.currency: must be three capital letters"],
    [[mini, { ...mini, model: "gpt-5*", currency: "EUR" }], "prices.1.currency: must be the same for all prices"],
    [[mini, { ...mini, inputPerMillion: 1 }], "prices.1.model: must have one price of a provider"],
    [[{ ...mini, model: "gpt*5" }], "prices.0.model: must be a name"],
    [[{ ...mini, model: "" }], "prices.0.model: must be a name"],
    [[{ ...mini, model: "../x*" }], "prices.0.model: must be a name"],
    [[{ ...mini, model: "x\u0000" }], "prices.0.model: must be a name"],
    [[{ ...mini, provider: "nobody" }], "prices.0.provider"],
    [many, "prices: must be at most 200"],
  ] as const) {
    const [status, said] = await refusal(put(prices));
    expect([status, said]).toEqual([400, expect.stringContaining(message)]);
  }
  expect((await read()).prices).toEqual([]);
});

test("members read prices, and only who may change the organization sets them", async () => {
  const { put, read, as, createOrganization, request } = await world();
  const viewer = await as("viewer");
  expect((await read(viewer)).currency).toBe("USD");
  expect((await put([mini], viewer)).status).toBe(403);
  expect((await put([mini], await as("admin"))).status).toBe(403);
  const globex = await createOrganization("globex");
  const stranger = await as("owner", { organization: globex });
  expect((await put([mini], stranger)).status).toBe(404);
  expect((await request(path, { headers: stranger })).status).toBe(404);
  expect((await request(path)).status).toBe(401);
});
