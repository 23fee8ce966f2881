import { APICallError } from "@ai-sdk/provider";
import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { ProviderSetupError } from "../../../src/core/errors.ts";
import { newId } from "../../../src/core/ids.ts";
import { turns } from "../../../src/db/schema.ts";
import type { Turn, TurnDebug, WholeTurn } from "../../../src/features/conversations/turns/schema.ts";
import { finish, gate, reply, type ScriptedModel, scriptedModel, text, toolCall } from "../../scripted-model.ts";
import { eventually } from "../chat/chat.ts";
import { address, conversationHarness, refOf } from "./conversations.ts";

type Harness = Awaited<ReturnType<typeof conversationHarness>>;

const debugged = (model?: ScriptedModel, fields: object = {}, options: object = {}) =>
  conversationHarness(model, { debugEnabled: true, ...fields }, options);

const change = async (h: Harness, method: string, path: string, json: unknown) => {
  const response = await h.request(path, { method, headers: h.agent.headers, json });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
};
const patch = (h: Harness, json: object) => change(h, "PATCH", `/api/instances/${h.agent.slug}`, json);

async function list(h: Harness, ref: string, query = "") {
  const response = await h.get(`${address(ref)}/turns${query}`);
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  return (await response.json()) as { turns: Turn[]; total: number };
}

async function read(h: Harness, ref: string, turnId: string): Promise<WholeTurn> {
  const response = await h.get(`${address(ref)}/turns/${turnId}`);
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  return ((await response.json()) as { turn: WholeTurn }).turn;
}

/** The newest turn of a conversation. */
async function newest(h: Harness, ref: string): Promise<WholeTurn> {
  const [turn] = (await list(h, ref)).turns;
  return read(h, ref, turn?.id ?? "");
}

async function debugOf(h: Harness, ref: string): Promise<TurnDebug> {
  const { debug } = await newest(h, ref);
  if (!debug) throw new Error("Nothing was kept for debugging");
  return debug;
}

const refused = (statusCode: number, responseBody: string, headers = {}) =>
  new APICallError({
    message: "Refused",
    url: "https://provider.example",
    requestBodyValues: {},
    statusCode,
    responseHeaders: headers,
    responseBody,
  });

/** Sends a message, and moves the clock on until the answer is there: retries wait. */
async function askThrough(h: Harness, content: string, chatId = "c") {
  let answer: Response | null = null;
  void h.complete(content, { chat_id: chatId }).then((response) => {
    answer = response;
  });
  return eventually(async () => {
    await h.clock.advance(500);
    return answer;
  });
}

describe("a turn of an agent that is debugged", () => {
  test("shows the prompt, memories, state, tools, steps, and what was stored", async () => {
    const model = scriptedModel((_call, index) =>
      index === 1
        ? {
            parts: [
              ...text("Let me note it. "),
              ...toolCall("call_1", "setState", { key: "tea", value: "green" }),
              finish("tool-calls", { input: 20, output: 5 }),
            ],
          }
        : { parts: [...text("Noted."), finish("stop", { input: 30, output: 4 })] },
    );
    const h = await debugged(model, { memoryEnabled: true, temperature: 0.5 });
    const base = `/api/instances/${h.agent.slug}`;
    await change(h, "PATCH", `${base}/prompts`, { sections: [{ key: "01-identity", content: "You are Carla." }] });
    await change(h, "PATCH", `${base}/tools`, { enabled: ["setState", "currentTime"], needsApproval: ["currentTime"] });
    const actionConfig = { toolName: "setState", args: { key: "seen", value: "{{message.text}}" } };
    await change(h, "POST", `${base}/hooks`, { event: "message_received", actionConfig });
    const memory = {
      instanceId: h.agent.slug,
      content: "Prefers oolong.",
      subject: refOf(h, "c"),
      subjectChannel: "conversation",
    };
    await change(h, "POST", "/memories", memory);
    await h.say("Hello");
    const ref = await h.say("I like green tea");

    const page = await list(h, ref, "?limit=1");
    expect(page.total).toBe(2);
    const { debug, messages, toolCalls, hooks, ...turn } = await newest(h, ref);
    expect(turn).toEqual(page.turns[0]);
    expect(turn).toMatchObject({
      status: "done",
      door: "completions",
      source: "user",
      provider: "demo",
      model: "demo",
      errorCode: null,
      promptTokens: 50,
      completionTokens: 9,
      continues: null,
      finishedAt: expect.any(String),
    });
    expect(messages.map(({ role, content }) => [role, content])).toEqual([
      ["user", "I like green tea"],
      ["assistant", "Let me note it. Noted."],
    ]);
    expect(messages[1]?.id).toBe(turn.id);
    expect(toolCalls).toMatchObject([{ toolCallId: "call_1", toolName: "setState", status: "executed" }]);
    expect(hooks).toMatchObject([{ event: "message_received", toolName: "setState", success: true }]);

    expect(debug).toMatchObject({
      preparedMs: expect.any(Number),
      settings: { thinking: false, temperature: 0.5, maxOutputTokens: null, maxSteps: 16 },
      memories: expect.stringContaining("Prefers oolong."),
      // The state before the hook of this turn.
      state: { seen: "Hello" },
      stateChanges: { set: { seen: "I like green tea", tea: "green" }, removed: [] },
      hooks: [],
      failure: null,
    });
    const sent = model.calls[1]?.prompt ?? [];
    expect(debug?.prompt?.system).toBe(sent[0]?.content);
    expect(debug?.prompt?.system).toContain("You are Carla.");
    expect(debug?.prompt?.messages).toEqual(sent.slice(1).map(({ role, content }) => ({ role, content })));
    expect(debug?.prompt?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "user"]);
    expect(debug?.prompt?.omitted).toBe(0);
    expect(debug?.tools).toContainEqual(
      expect.objectContaining({ name: "currentTime", modelName: "currentTime", needsApproval: true }),
    );
    expect(debug?.steps).toMatchObject([
      { index: 0, stepType: "initial", promptTokens: 20, completionTokens: 5, finishReason: "tool-calls", retries: [] },
      { index: 1, stepType: "tool-result", promptTokens: 30, completionTokens: 4, finishReason: "stop" },
    ]);
    expect(debug?.steps.every(({ durationMs, firstOutputMs }) => durationMs !== null && firstOutputMs !== null)).toBe(
      true,
    );
  });

  test("names the retries of a model call, with what the provider said", async () => {
    const said = '{"error":{"message":"Too many requests of acme"}}';
    const model = scriptedModel((_call, index) =>
      index < 2 ? { fail: refused(429, said, { "retry-after": "1" }) } : reply("At last."),
    );
    const h = await debugged(model);
    expect((await askThrough(h, "Hello")).status).toBe(200);
    const { steps, failure } = await debugOf(h, refOf(h, "c"));
    expect(failure).toBeNull();
    const rateLimited = {
      code: "rate-limited",
      message: "Model provider is rate limited",
      said,
      hint: "The provider is asked too often (status 429)",
    };
    expect(steps).toMatchObject([
      {
        finishReason: "stop",
        retries: [
          { attempt: 1, waitMs: 1_000, failure: rateLimited },
          { attempt: 2, waitMs: 1_000, failure: rateLimited },
        ],
      },
    ]);
  });

  test("is kept when it failed before its first output, and nothing else of it is stored", async () => {
    const h = await debugged(scriptedModel([{ fail: refused(400, "The prompt is too long: 9000 tokens") }]));
    const actionConfig = { toolName: "setState", args: { key: "seen", value: "{{message.text}}" } };
    await change(h, "POST", `/api/instances/${h.agent.slug}/hooks`, { event: "message_received", actionConfig });
    expect((await h.complete("Hello", { chat_id: "c" })).status).toBe(502);
    const { debug, ...turn } = await newest(h, refOf(h, "c"));
    expect(turn).toMatchObject({ status: "failed", errorCode: "provider-failed", messages: [], hooks: [] });
    expect(debug).toMatchObject({
      failure: { code: "provider-failed", said: "The prompt is too long: 9000 tokens" },
      hooks: [{ event: "message_received", toolName: "setState", success: true }],
      stateChanges: null,
      steps: [{ index: 0, finishReason: null, durationMs: null }],
    });
    expect(debug?.prompt?.messages.at(-1)).toEqual({ role: "user", content: [{ type: "text", text: "Hello" }] });
  });

  test("is kept when no model was available", async () => {
    const resolve = async () => Promise.reject(new ProviderSetupError("There is no openai_api_key"));
    const h = await debugged(undefined, {}, { models: { resolve } });
    expect((await h.complete("Hello", { chat_id: "c" })).status).toBe(502);
    expect(await debugOf(h, refOf(h, "c"))).toMatchObject({
      preparedMs: null,
      prompt: null,
      settings: null,
      steps: [],
      failure: { code: "provider-failed", hint: expect.stringContaining("openai_api_key"), said: null },
    });
  });

  test("does not name the addresses of the operator's network", async () => {
    const cause = Object.assign(new Error("connect ECONNREFUSED 10.1.2.3:11434"), { code: "ECONNREFUSED" });
    const h = await debugged(scriptedModel(() => ({ fail: new TypeError("fetch failed", { cause }) })));
    expect((await askThrough(h, "Hello")).status).toBe(502);
    const debug = await debugOf(h, refOf(h, "c"));
    expect(debug.steps[0]?.retries).toHaveLength(2);
    expect(debug.failure).toMatchObject({ code: "provider-failed", said: null });
    expect(JSON.stringify(debug)).not.toContain("10.1.2.3");
  });

  test("keeps no secret, wherever it is and however long the text", async () => {
    const canary = "canary-key-4711-geheim";
    const long = `${"x".repeat(16 * 1024 - 10)}${canary}${"y".repeat(2_000)}`;
    const model = scriptedModel([
      { parts: [...toolCall("a", "setState", { key: "k", value: canary }), finish("tool-calls")] },
      { fail: refused(400, `${"z".repeat(990)}${canary}`) },
    ]);
    const h = await debugged(model);
    const base = `/api/instances/${h.agent.slug}`;
    await change(h, "PUT", `${base}/secrets`, { secrets: [{ key: "openai_api_key", value: canary }] });
    await change(h, "PATCH", `${base}/prompts`, { sections: [{ key: "01-identity", content: `You are ${canary}.` }] });
    await change(h, "PATCH", `${base}/tools`, { enabled: ["setState"] });
    await h.complete(long, { chat_id: "c" });
    const { debug } = await newest(h, refOf(h, "c"));
    expect(debug?.prompt?.system).toContain("You are [secret].");
    expect(debug?.failure?.said).toMatch(/^z+\[secret\]/);
    expect(JSON.stringify(debug)).not.toMatch(/canary/);
  });

  test("keeps the newest messages of a large prompt", async () => {
    const h = await debugged(scriptedModel(() => reply("a".repeat(15_000))));
    for (let turn = 0; turn < 12; turn += 1) await h.say(`Question ${turn}`);
    const { prompt } = await debugOf(h, refOf(h, "c"));
    expect(prompt?.messages.length).toBeGreaterThan(10);
    expect(prompt?.omitted).toBe(23 - (prompt?.messages.length ?? 0));
    expect(prompt?.omitted).toBeGreaterThan(0);
    expect(prompt?.messages.at(-1)?.content).toEqual([{ type: "text", text: "Question 11" }]);
    const [row] = await h.db.select().from(turns).where(eq(turns.status, "done"));
    expect(JSON.stringify(row?.debug).length).toBeLessThan(512 * 1024);
  });

  test("leaves nothing where no conversation is stored", async () => {
    const h = await debugged();
    expect((await h.complete("A stranger's words")).status).toBe(200);
    expect((await h.stored()).turns).toMatchObject([{ conversationId: null, debug: null }]);
  });

  test("leaves nothing once its conversation is deleted, not even one that was under way", async () => {
    const held = gate();
    const model = scriptedModel([reply("Noted."), { parts: [...text("So"), held.promise, finish()], deaf: true }]);
    const h = await debugged(model);
    const ref = await h.say("First words");
    expect((await h.stored()).turns[0]?.debug).not.toBeNull();
    const running = h.complete("Second words", { chat_id: "c" });
    await model.called(2);
    const gone = await h.request(address(ref), { method: "DELETE", headers: h.agent.headers });
    expect(gone.status).toBe(200);
    held.open();
    await (await running).text();
    const { turns: rows } = await h.stored();
    expect(rows).toHaveLength(2);
    expect(rows.map(({ debug }) => debug)).toEqual([null, null]);
  });
});

test("without the switch a turn shows what is stored anyway; what was kept is shown only while it is on", async () => {
  const h = await conversationHarness();
  const ref = await h.say("Hello");
  const plain = await newest(h, ref);
  expect(plain).toMatchObject({ status: "done", debug: null });
  expect(plain.messages).toHaveLength(2);
  await patch(h, { debugEnabled: true });
  expect((await newest(h, ref)).debug).toBeNull();
  await h.say("Hello again");
  expect((await newest(h, ref)).debug).not.toBeNull();
  await patch(h, { debugEnabled: false });
  expect((await newest(h, ref)).debug).toBeNull();
  await patch(h, { debugEnabled: true });
  expect((await newest(h, ref)).debug).not.toBeNull();
});

test("a turn that waited for a decision and the one that continues it name each other", async () => {
  const model = scriptedModel([
    { parts: [...toolCall("call_1", "currentTime", { timezone: "UTC" }), finish("tool-calls")] },
    reply("It is noon."),
  ]);
  const h = await debugged(model);
  const tools = { enabled: ["currentTime"], needsApproval: ["currentTime"] };
  await change(h, "PATCH", `/api/instances/${h.agent.slug}/tools`, tools);
  const ref = await h.say("What time is it?");
  const waiting = await newest(h, ref);
  expect(waiting).toMatchObject({
    status: "approval",
    toolCalls: [{ toolCallId: expect.any(String), toolName: "currentTime", status: "pending" }],
  });
  const call = waiting.toolCalls[0]?.toolCallId ?? "";
  await change(h, "POST", `${address(ref)}/approvals/${call}`, { approved: true });
  const continued = await eventually(async () => {
    const turn = await newest(h, ref);
    // The decision ends the waiting turn before there is another one.
    return turn.id !== waiting.id && turn.status === "done" ? turn : null;
  });
  expect(continued.continues).toBe(waiting.id);
  expect(continued.debug?.prompt?.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  expect(continued.debug?.steps.map(({ stepType }) => stepType)).toEqual(["tool-result", "tool-result"]);
});

test("is for those who may read conversations, within their reach", async () => {
  const h = await debugged();
  const ref = await h.say("Hello");
  const { id } = await newest(h, ref);
  const path = `${address(ref)}/turns/${id}`;
  const status = async (address: string, headers: Record<string, string>) => (await h.get(address, headers)).status;
  expect(await status(path, await h.as("viewer"))).toBe(200);
  expect(await status(path, {})).toBe(401);
  expect(await status(path, { Authorization: `Bearer ${h.agent.key}` })).toBe(401);
  const foreign = await h.as("owner", { organization: await h.createOrganization("other") });
  const outside = await h.as("member", { reach: false });
  for (const headers of [foreign, outside]) {
    expect(await status(path, headers)).toBe(404);
    expect(await status(`${address(ref)}/turns`, headers)).toBe(404);
  }
  // Another conversation's turn is not found in this one.
  const other = await h.say("Hello", "d");
  for (const unknown of [`${address(other)}/turns/${id}`, `${address(ref)}/turns/${newId()}`]) {
    const response = await h.get(unknown);
    expect([response.status, await response.json()]).toMatchObject([404, { message: "Turn not found" }]);
  }
  for (const odd of ["nothing", "%00", "1", "%ED%A0%80"])
    expect(await status(`${address(ref)}/turns/${odd}`, h.admin)).toBe(404);
});
