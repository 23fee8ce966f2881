import { expect, test } from "vitest";
import { scriptedModel } from "../../scripted-model.ts";
import { chatHarness } from "./chat.ts";

const silent = () => scriptedModel([]);

test("so many parts in all are refused before each is looked at", async () => {
  const h = await chatHarness(silent());
  const content = Array.from({ length: 600 }, () => ({}));
  const messages = [1, 2].map(() => ({ role: "user", content }));
  const refused = await h.post("/v1/chat/completions", { model: h.agent.slug, messages });
  expect([refused.status, (await refused.json()).message]).toEqual([
    400,
    "messages: must hold at most 1000 parts in all",
  ]);
});

test("nesting without end is no JSON", async () => {
  const h = await chatHarness(silent());
  const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: "[".repeat(1_000_000) };
  expect((await h.request("/v1/chat/completions", init)).status).toBe(400);
});

test("who used up the fixed throttle is refused without a look at what he sends, until its window ends", async () => {
  const h = await chatHarness(silent());
  const ask = (body: string) =>
    h.request("/v1/chat/completions", {
      method: "POST",
      headers: { "X-Forwarded-For": "203.0.113.9", "Content-Type": "application/json" },
      body,
    });
  for (let call = 0; call < 20; call += 1) expect((await ask("{}")).status).toBe(400);
  expect((await ask("{}")).status).toBe(429);
  const queries: string[] = [];
  const { database } = h.services;
  const query = database.query.bind(database);
  database.query = (text, parameters) => {
    queries.push(text);
    return query(text, parameters);
  };
  await h.clock.advance(10_000);
  const refused = await ask("[");
  expect([refused.status, refused.headers.get("Retry-After"), queries]).toEqual([429, "50", []]);
  await h.clock.advance(50_000);
  expect((await ask("[")).status).toBe(400);
});
