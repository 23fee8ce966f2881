import { APICallError } from "@ai-sdk/provider";
import { expect, test } from "vitest";
import { EngineError } from "../../../src/core/errors.ts";
import { plainText } from "../../plain-text.ts";
import { finish, reply, scriptedModel, text } from "../../scripted-model.ts";
import { chatHarness, dataLines, eventually } from "./chat.ts";

function apiError(statusCode: number, responseHeaders: Record<string, string> = {}) {
  return new APICallError({
    message: "upstream words",
    url: "http://x",
    requestBodyValues: {},
    statusCode,
    responseHeaders,
  });
}

const never = new Promise<never>(() => {});

test.each([
  ["an error", apiError(400), 502, "Model provider error"],
  ["a throttle", apiError(429, { "retry-after": "42" }), 429, "Model provider is rate limited"],
])("%s before output has its real status, streamed or not", async (_what, fail, status, message) => {
  const h = await chatHarness(scriptedModel(() => ({ fail })));
  for (const stream of [false, true]) {
    const response = await h.complete("Hi", { stream });
    expect(await response.json()).toMatchObject({ statusCode: status, message });
    expect(response.headers.get("Retry-After")).toBe(status === 429 ? "42" : null);
  }
});

test("a reply that the provider's filter emptied is a 502 that says so; one it cut short is a reply", async () => {
  const h = await chatHarness(scriptedModel(() => ({ parts: [finish("content-filter")] })));
  const message = "The model provider blocked this prompt or its reply";
  for (const stream of [false, true]) {
    expect(await (await h.complete("Hi", { stream })).json()).toMatchObject({ statusCode: 502, message });
  }
  expect(h.logs.join("\n")).toContain("let nothing through (content-filter)");

  const other = await chatHarness(scriptedModel(() => ({ parts: [...text("half"), finish("content-filter")] })));
  expect(await (await other.complete("Hi")).json()).toMatchObject({ choices: [{ message: { content: "half" } }] });
});

test("a silent provider is a 504, streamed or not", async () => {
  const model = scriptedModel(() => ({ parts: [never] }));
  const h = await chatHarness(model);
  for (const stream of [false, true]) {
    const asked = h.complete("Hi", { stream });
    await model.called(stream ? 2 : 1);
    await h.clock.advance(151_000);
    expect(await (await asked).json()).toMatchObject({ statusCode: 504, message: "Model provider timed out" });
  }
});

test("the policy alone says how long a model may be silent", async () => {
  const model = scriptedModel(() => ({ parts: [never] }));
  const h = await chatHarness(model);
  await h.request("/api/installation/policies", {
    method: "PATCH",
    headers: await h.as("owner"),
    json: { modelTimeoutSeconds: 3_600 },
  });
  const asked = h.complete("Hi");
  await model.called(1);
  await h.clock.advance(1_799_000);
  expect(await Promise.race([asked, "waits"])).toBe("waits");
  await h.clock.advance(2_000);
  expect((await asked).status).toBe(504);
});

test("a failure in mid-stream is an error line and [DONE], without a finish reason; unstreamed it is a 502", async () => {
  const h = await chatHarness(scriptedModel(() => ({ parts: [text("half"), new Error("gone")] })));
  const lines = dataLines(await (await h.complete("Hi", { stream: true })).text());
  expect(lines.slice(-2)).toEqual([
    JSON.stringify({ error: { message: "Model provider error", type: "server_error", code: "provider-failed" } }),
    "[DONE]",
  ]);
  expect(lines.join()).not.toContain('"stop"');
  expect((await h.complete("Hi")).status).toBe(502);
});

test("a provider that this build lacks, or that has no key, is a 502 whose reason is in the log", async () => {
  const h = await chatHarness(undefined, { provider: "openai", model: "gpt-5-mini" });
  expect(await (await h.complete("Hi")).json()).toMatchObject({ statusCode: 502, message: "Model provider error" });
  expect(h.logs.join("\n")).toContain("openai_api_key");
  await h.request(`/api/instances/${h.agent.slug}`, {
    method: "PATCH",
    headers: h.agent.headers,
    json: { provider: "google", model: "x" },
  });
  expect((await h.complete("Hi")).status).toBe(502);
});

test("a stopping server takes no new turns, lets running ones end, and cuts off what outlasts the grace", async () => {
  const held = Promise.withResolvers<void>();
  const model = scriptedModel((_call, index) =>
    index === 0
      ? { parts: [text("slow"), held.promise, ...(reply("!").parts ?? [])] }
      : { parts: [text("endless"), never] },
  );
  const h = await chatHarness(model);
  const slow = await h.complete("Hi", { stream: true, chat_id: "a" });
  const endless = await h.complete("Hi", { stream: true, chat_id: "b" });
  const stopped = h.engine.stop(10_000);

  expect((await h.request("/health")).status).toBe(503);
  const refused = await h.complete("Hi");
  expect(await refused.json()).toMatchObject({ statusCode: 503, message: "The server is stopping" });
  held.resolve();
  expect(await slow.text()).toContain('"finish_reason":"stop"');
  await h.clock.advance(10_000);
  await stopped;
  expect(dataLines(await endless.text()).slice(-2)[0]).toContain("The server is stopping");
  const { messages, turns } = await h.stored();
  expect(messages.map(({ content, metadata }) => [content, metadata])).toContainEqual([
    "endless",
    { stopped: "shutdown" },
  ]);
  expect(turns.map(({ status }) => status).sort()).toEqual(["aborted", "done"]);
});

test("a turn that cannot be recorded is not reported as done", async () => {
  const h = await chatHarness(scriptedModel(() => reply("ok")));
  const { database } = h.services;
  const { query } = database;
  database.query = (sql, parameters) =>
    plainText(sql).includes("update turns set status")
      ? Promise.reject(new Error("disk full"))
      : query(sql, parameters);
  const whole = await h.complete("Hi", { chat_id: "c" });
  expect([whole.status, (await whole.json()).message]).toEqual([500, "Internal server error"]);
  const streamed = dataLines(await (await h.complete("Hi")).text());
  expect(streamed.join()).not.toContain('"stop"');
  database.query = query;
  expect(h.logs.join("\n")).toContain("disk full");
  await eventually(async () => (await h.stored()).turns.length > 0);
});

test("a database that blinks when a turn is recorded loses nothing", async () => {
  const h = await chatHarness(scriptedModel(() => reply("ok")));
  const { database } = h.services;
  const { query } = database;
  let failures = 0;
  database.query = async (sql, parameters) => {
    if (!plainText(sql).includes("update turns set status")) return query(sql, parameters);
    failures += 1;
    if (failures === 1) throw new EngineError("unavailable", "The database is unreachable");
    const rows = await query(sql, parameters);
    // The write succeeds, but its answer is lost: the next attempt must not fail because of that.
    if (failures === 2) throw new EngineError("unavailable", "The connection to the database was lost");
    return rows as never;
  };
  const asked = h.complete("Hi", { chat_id: "c" });
  let answer: Response | null = null;
  void asked.then((response) => {
    answer = response;
  });
  await eventually(async () => {
    await h.clock.advance(500);
    return answer;
  });
  expect((await asked).status).toBe(200);
  const { messages, turns } = await h.stored();
  expect(messages.map(({ content }) => content)).toEqual(["Hi", "ok"]);
  expect(turns).toMatchObject([{ status: "done" }]);
});

test("an error that cannot be written down fails its turn and no more", async () => {
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  const h = await chatHarness(
    scriptedModel((_call, index) => (index === 0 ? { parts: [{ type: "error", error: circular }] } : reply("ok"))),
  );
  expect((await h.complete("Hi", { chat_id: "c" })).status).toBe(502);
  expect((await h.complete("Hi", { chat_id: "c" })).status).toBe(200);
});

test("a stop waits for a turn that is being opened", async () => {
  const h = await chatHarness(scriptedModel(() => reply("ok")));
  const { database } = h.services;
  const { query } = database;
  const opening = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  database.query = async (sql, parameters) => {
    const rows = await query(sql, parameters);
    if (plainText(sql).includes("insert into turns")) {
      reached.resolve();
      await opening.promise;
    }
    return rows as never;
  };
  const asked = h.complete("Hi");
  await reached.promise;
  const stopped = h.engine.stop(0);
  opening.resolve();
  await stopped;
  expect((await h.stored()).turns.map(({ status }) => status)).not.toContain("running");
  expect((await asked).status).toBe(503);
});

test("too large a body counts for the throttle", async () => {
  const h = await chatHarness(scriptedModel(() => reply("ok")));
  const headers = { "Content-Type": "application/json", "X-Forwarded-For": "203.0.113.20" };
  const body = JSON.stringify({ model: "x".repeat(2_000_000) });
  const ask = () => h.request("/v1/chat/completions", { method: "POST", headers, body });
  for (let call = 0; call < 20; call += 1) expect((await ask()).status).toBe(413);
  expect((await ask()).status).toBe(429);
});
