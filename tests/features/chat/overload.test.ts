import { expect, test } from "vitest";
import { throttles } from "../../../src/db/schema.ts";
import { plainText } from "../../plain-text.ts";
import { finish, gate, reply, scriptedModel, textDelta } from "../../scripted-model.ts";
import { chatHarness, eventually } from "./chat.ts";

/** The numbers of running and waiting calls when only the last permits are left. */
const [places, waiting] = [8, 128];

const settle = () => new Promise((resolve) => setImmediate(resolve));

/** A server with an event loop that is late, as the test says, and a database that opens turns when the test says. */
async function overloaded() {
  const [held, opening] = [gate(), gate()];
  const state = { lateMs: 0 };
  const model = scriptedModel(({ prompt }) =>
    JSON.stringify(prompt).includes("held")
      ? { parts: [textDelta("begun"), held.promise, textDelta(" done"), finish()] }
      : reply("Hello"),
  );
  const h = await chatHarness(model, {}, { loopDelay: () => state.lateMs });
  const { database } = h.services;
  const { query } = database;
  const opened: string[] = [];
  const open = { isSlow: false };
  database.query = async (statement, parameters) => {
    if (open.isSlow && plainText(statement).includes("insert into turns")) {
      opened.push(String(parameters.find((value) => typeof value === "string" && value.includes(":web:"))));
      await opening.promise;
    }
    return (await query(statement, parameters)) as never;
  };

  /** Calls `/api/me` until only the last permits are left. */
  const begin = async () => {
    state.lateMs = 100;
    const headers = await h.as("owner");
    for (let n = 0; n < 12; n += 1) {
      expect((await h.request("/api/me", { headers })).status).toBe(200);
      await h.clock.advance(50);
    }
  };
  /** Lets the waiting crowd become one that has lasted. */
  const last = async () => {
    for (let round = 0; round < 20; round += 1) await settle();
    await h.clock.advance(1_000);
  };
  /** Calls of the first agent, each of another client: as many as can run and wait. */
  const flood = async (n = places + waiting) => {
    open.isSlow = true;
    const call = (index: number) => h.complete("flood", { chat_id: `flood-${index}` });
    const calls = Array.from({ length: Math.min(n, places + 1) }, (_, index) => call(index));
    await eventually(async () => opened.length >= Math.min(n, places));
    if (n > places) await last();
    for (let index = calls.length; index < n; index += 1) calls.push(call(index));
    for (let round = 0; round < 20; round += 1) await settle();
    return calls;
  };
  return { ...h, held, opening, opened, state, begin, last, flood };
}

test("each endpoint refuses with 503, Retry-After and its own form, and other routes answer", async () => {
  const h = await overloaded();
  const stream = await h.native("held", { chat_id: "held" });
  await eventually(async () => h.logs.length > 0);
  await h.begin();
  const flood = await h.flood();
  const retry = { "Retry-After": "1" };
  const message = "The server is overloaded: try again in 1 second";

  const completion = await h.complete("one more", { chat_id: "x" });
  expect(completion.status).toBe(503);
  expect(Object.fromEntries(completion.headers)).toMatchObject({ "retry-after": retry["Retry-After"] });
  expect(await completion.json()).toEqual({ statusCode: 503, message, error: "Service Unavailable" });

  for (const headers of [{ "X-Error-Format": "openai" }, { "X-Stainless-Lang": "js" }] as Record<string, string>[]) {
    const vendor = await h.complete("one more", {}, { headers });
    expect([vendor.status, vendor.headers.get("Retry-After")]).toEqual([503, "1"]);
    expect(await vendor.json()).toMatchObject({ error: { message, type: "server_error", code: "unavailable" } });
  }

  const native = await h.native("one more", { chat_id: "x" });
  expect([native.status, native.headers.get("Retry-After")]).toEqual([503, "1"]);
  expect(await native.json()).toMatchObject({ statusCode: 503, message });

  const person = { headers: await h.as("owner") };
  const play = h.post(
    `/api/instances/${h.agent.slug}/playground/stream`,
    { messages: [{ role: "user", content: "x" }] },
    person,
  );
  // It waits for the permit of its guard, for which the flood gives way.
  const left = await Promise.race(flood);
  expect([left.status, left.headers.get("Retry-After")]).toEqual([503, "1"]);

  expect((await h.request("/health")).status).toBe(200);
  const reader = stream.body?.getReader();
  const said = new TextDecoder().decode((await reader?.read())?.value);
  const messageId =
    /id: ([^:\n]+):/.exec(said)?.[1] ??
    /id: ([^:\n]+):/.exec(new TextDecoder().decode((await reader?.read())?.value))?.[1];
  const own = { Authorization: `Bearer ${h.agent.key}`, "X-Forwarded-For": "198.51.100.1" };
  const path = `/api/instances/${h.agent.slug}/chat/stream/${messageId}`;
  const resumed = await h.request(path, { headers: own });
  expect(resumed.status).toBe(200);
  const stopped = await h.request(path, { method: "DELETE", headers: own });
  expect(await stopped.json()).toEqual({ stopped: true });

  h.opening.open();
  h.held.open();
  await Promise.all(flood.map(async (call) => (await call).text()));
  await (await play).text();
  await resumed.text();
});

test("a playground or management call waits for its guard's permit, and is refused without one", async () => {
  const h = await overloaded();
  const headers = await h.as("owner");
  await h.begin();
  const flood = await h.flood();
  const body = { messages: [{ role: "user", content: "x" }] };
  const calls = [
    h.post(`/api/instances/${h.agent.slug}/playground/stream`, body, { headers }),
    h.request("/api/instances", { headers }),
  ];
  await settle();
  await h.clock.advance(2_000);
  for (const call of calls) {
    const refused = await call;
    expect([refused.status, refused.headers.get("Retry-After")]).toEqual([503, "1"]);
    expect(await refused.json()).toMatchObject({ statusCode: 503, error: "Service Unavailable" });
  }
  h.opening.open();
  await Promise.all(flood.map(async (call) => (await call).text()));
  expect((await h.request("/api/instances", { headers })).status).toBe(200);
});

test("one organization's flood leaves the others their places, and so do an agent's and a client's", async () => {
  const h = await overloaded();
  const other = await h.createOrganization("others");
  const headers = await h.as("owner", { organization: other });
  const key = "key-of-the-others-agent";
  const made = await h.request("/api/instances", {
    method: "POST",
    headers,
    json: { slug: "others", provider: "demo" },
  });
  expect(made.status).toBe(201);
  const web = { enabled: true, config: { apiKey: key } };
  await h.request("/api/instances/others/channels/web", { method: "PUT", headers, json: web });
  const sibling = await h.anotherAgent();
  const ask = (model: string, agentKey: string, chat_id: string, client: string) =>
    h.post(
      "/v1/chat/completions",
      { model, chat_id, messages: [{ role: "user", content: "x" }] },
      { headers: { Authorization: `Bearer ${agentKey}`, "X-Forwarded-For": client } },
    );
  // Loaded before the overload.
  expect((await ask("others", key, "first", "203.0.113.1")).status).toBe(200);
  expect((await ask(sibling.slug, sibling.key, "first", "203.0.113.1")).status).toBe(200);
  await h.begin();
  const flood = await h.flood(places);
  // All of one client.
  const same = [ask(h.agent.slug, h.agent.key, "same-0", "203.0.113.9")];
  await h.last();
  for (let n = 1; n < waiting; n += 1) same.push(ask(h.agent.slug, h.agent.key, `same-${n}`, "203.0.113.9"));
  for (let round = 0; round < 20; round += 1) await settle();
  expect((await ask(h.agent.slug, h.agent.key, "late", "203.0.113.9")).status).toBe(503);
  const others = [
    ask("others", key, "o", "203.0.113.1"),
    ask(sibling.slug, sibling.key, "s", "203.0.113.1"),
    ask(h.agent.slug, h.agent.key, "c", "203.0.113.2"),
  ];
  for (let round = 0; round < 20; round += 1) await settle();
  h.opening.open();
  expect((await Promise.all(others)).map(({ status }) => status)).toEqual([200, 200, 200]);
  // The organization with the least work was next, then its agent, then its client.
  expect(h.opened.slice(places, places + 1)).toEqual(["others:web:api-o"]);
  expect(h.opened.indexOf(`${sibling.slug}:web:api-s`)).toBeLessThan(h.opened.indexOf(`${h.agent.slug}:web:api-c`));
  expect(h.opened.indexOf(`${h.agent.slug}:web:api-c`)).toBeLessThan(
    h.opened.indexOf(`${h.agent.slug}:web:api-same-1`),
  );
  const statuses = (await Promise.all(same)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 503)).toHaveLength(3);
  await Promise.all(flood);
});

test("a refused call is counted by no throttle, asks the database nothing, and is not a line of the log", async () => {
  const h = await overloaded();
  await h.begin();
  const flood = await h.flood();
  const counted = () => h.services.database.db.select().from(throttles);
  const before = await counted();
  const lines = h.logs.length;
  const from = { headers: { "X-Forwarded-For": "203.0.113.7" } };
  let statements = 0;
  const { query } = h.services.database;
  h.services.database.query = (statement, parameters) => {
    statements += 1;
    return query(statement, parameters);
  };
  for (let n = 0; n < 30; n += 1) {
    expect((await h.complete("x", {}, from)).status).toBe(503);
    expect((await h.native("x", {}, from)).status).toBe(503);
  }
  expect(statements).toBe(0);
  expect(await counted()).toEqual(before);
  const said = h.logs.slice(lines).filter((line) => !line.includes('"level":"debug"'));
  expect(said.map((line) => JSON.parse(line).message)).toEqual(["Overloaded: calls are refused"]);
  h.opening.open();
  await Promise.all(flood.map(async (call) => (await call).text()));
  h.state.lateMs = 0;
  await h.clock.advance(5_000);
  expect(JSON.parse(h.logs.at(-1) ?? "{}")).toMatchObject({ message: "No longer overloaded", refused: 60 });
  // The same one again.
  expect((await h.complete("x", {}, from)).status).toBe(200);
});

test("turns that wait for their model hold no permit, however many they are", async () => {
  const held = gate();
  const state = { lateMs: 0 };
  const model = scriptedModel(() => ({ parts: [held.promise, textDelta("Hello"), finish()] }));
  const h = await chatHarness(model, {}, { loopDelay: () => state.lateMs });
  const slow = Array.from({ length: 100 }, (_, n) => h.complete("x", { chat_id: `slow-${n}` }));
  await model.called(100);
  state.lateMs = 100;
  for (let n = 0; n < 12; n += 1) await h.clock.advance(50);
  const more = h.complete("x", { chat_id: "one-more" });
  await model.called(101);
  held.open();
  expect((await more).status).toBe(200);
  expect((await Promise.all(slow)).every(({ status }) => status === 200)).toBe(true);
});
