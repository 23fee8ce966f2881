import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import type { Database } from "../../../src/db/client.ts";
import { agents, conversations } from "../../../src/db/schema.ts";
import { project } from "../../../src/features/chat/request/context.ts";
import { writeContext } from "../../../src/features/turns/place/state.ts";
import { finish, gate, reply, type ScriptedModel, scriptedModel, text, toolCall } from "../../scripted-model.ts";
import { type ChatHarness, chatHarness, eventually, readEvents } from "./chat.ts";

const mapping = { customer: "customer.id", plan: "account.plan", _private: "session" };

/** An agent with a context mapping. */
async function mappingHarness(model?: ScriptedModel, fields: Record<string, unknown> = {}) {
  const h = await chatHarness(model ?? scriptedModel(() => reply("Hi.")), fields);
  await configure(h, { contextMapping: mapping });
  return h;
}

async function configure(h: ChatHarness, config: object) {
  const path = `/api/instances/${h.agent.slug}/channels/web`;
  const saved = await h.request(path, { method: "PUT", headers: h.agent.headers, json: { enabled: true, config } });
  expect(saved.status).toBe(200);
}

const stateOf = async (h: ChatHarness) => (await h.stored()).conversations.map(({ state }) => state);
const promptOf = (model: ScriptedModel, n: number) => JSON.stringify(model.calls[n]?.prompt[0]);
const context = { customer: { id: "c-17" }, session: { token: "s3cret" }, other: true };

describe("the context of a call", () => {
  test("is projected by the mapping: present paths only, of the object itself, null included", () => {
    const paths = Object.entries({ a: "x.y", b: "x.z", c: "list.1", d: "toString", e: "x.y.length", f: "gone.deep" });
    expect(project({ x: { y: "one", z: null }, list: [1, 2] }, paths)).toEqual({ a: "one", b: null, c: 2 });
  });

  test("is there for the turn, stays for later ones, and `_private` reaches no model", async () => {
    const model = scriptedModel(() => reply("Hi."));
    const h = await mappingHarness(model);
    expect((await h.complete("Hello", { chat_id: "c", context })).status).toBe(200);
    expect(await stateOf(h)).toEqual([{ customer: "c-17", _private: { token: "s3cret" } }]);
    expect(promptOf(model, 0)).toContain("customer");
    expect(promptOf(model, 0)).toContain("c-17");
    await readEvents(await h.native("Again", { chat_id: "c", context: { account: { plan: "pro" } } }));
    expect(await stateOf(h)).toEqual([{ customer: "c-17", plan: "pro", _private: { token: "s3cret" } }]);
    expect(promptOf(model, 1)).toContain("pro");
    for (const { prompt } of model.calls) expect(JSON.stringify(prompt)).not.toContain("s3cret");
  });

  test("is not shown to the model when the agent keeps its state out of the prompt", async () => {
    const model = scriptedModel(() => reply("Hi."));
    const h = await mappingHarness(model, { stateInPromptEnabled: false });
    await h.complete("Hello", { chat_id: "c", context });
    expect(JSON.stringify(model.calls[0]?.prompt)).not.toContain("c-17");
  });

  test("stays when the turn fails, in a conversation that is not listed", async () => {
    const model = scriptedModel([{ fail: new Error("boom") }]);
    const h = await mappingHarness(model);
    expect((await h.complete("Hello", { chat_id: "c", context })).status).toBe(502);
    const {
      conversations: [kept],
      messages,
    } = await h.stored();
    expect(messages).toEqual([]);
    expect(kept).toMatchObject({ state: { customer: "c-17" }, messageCount: 0, openTurns: 0 });
  });

  test("continues from the context the previous request wrote, in the order in which they came", async () => {
    const first = gate();
    const model = scriptedModel([{ parts: [first.promise, text("One"), finish()] }, reply("Two")]);
    const h = await mappingHarness(model);
    const one = h.complete("1", { chat_id: "c", context });
    await model.called(1);
    const two = h.complete("2", { chat_id: "c", context: { customer: { id: "c-18" } } });
    await eventually(async () => (await stateOf(h))[0]?.customer === "c-18");
    first.open();
    expect((await Promise.all([one, two])).map(({ status }) => status)).toEqual([200, 200]);
    expect(promptOf(model, 1)).toContain("c-18");
  });
});

describe("a context is refused", () => {
  const refusals: [string, object, Record<string, string>, number, string][] = [
    ["without chat_id, before all else", { context: null }, {}, 400, "context requires chat_id"],
    ["that is null", { chat_id: "c", context: null }, {}, 400, "context must be an object"],
    ["that is a list", { chat_id: "c", context: [] }, {}, 400, "context must be an object"],
    ["that is a text", { chat_id: "c", context: "x" }, {}, 400, "context must be an object"],
  ];
  test.each(refusals)("%s", async (_name, extra, headers, status, message) => {
    const h = await mappingHarness();
    const answer = await h.complete("Hello", extra, { headers });
    expect([answer.status, (await answer.json()).message]).toEqual([status, message]);
    const events = await readEvents(await h.native("Hello", extra, { headers }));
    expect(events.map(({ event, data }) => [event, data])).toEqual([
      ["error", { message }],
      ["done", { conversationId: null, messageId: null }],
    ]);
    expect((await h.stored()).conversations).toEqual([]);
  });

  test("where nothing is mapped, before the key is looked at", async () => {
    const h = await chatHarness(scriptedModel([]), { authEnabled: false });
    const asked = { headers: { Authorization: "" } };
    const message = "This agent maps no web context fields: configure them before sending context";
    const answer = await h.complete("Hello", { chat_id: "c", context }, asked);
    expect([answer.status, (await answer.json()).message]).toEqual([400, message]);
    const events = await readEvents(await h.native("Hello", { chat_id: "c", context }, asked));
    expect(events[0]?.data).toEqual({ message });
  });

  test("without the agent's key, also while it requires none: 401 on both endpoints", async () => {
    const h = await mappingHarness();
    await configure(h, { requireAuthentication: false });
    const ask = async (Authorization: string) => {
      const extra = { chat_id: "c", context };
      const answers = [await h.complete("x", extra, { headers: { Authorization } })];
      answers.push(await h.native("x", extra, { headers: { Authorization } }));
      return Promise.all(answers.map(async (answer) => [answer.status, (await answer.json()).message]));
    };
    expect(await ask("")).toEqual(Array(2).fill([401, "Missing Bearer token"]));
    expect(await ask("Bearer wrong")).toEqual(Array(2).fill([401, "Invalid API key"]));
    await h.request(`/api/instances/${h.agent.slug}/secrets/auth_api_key`, {
      method: "DELETE",
      headers: h.agent.headers,
    });
    expect(await ask("")).toEqual(Array(2).fill([401, "Call context requires the agent's API key"]));
    expect(await ask(`Bearer ${h.agent.key}`)).toEqual(
      Array(2).fill([401, "Call context requires the agent's API key"]),
    );
    expect((await h.stored()).conversations).toEqual([]);
  });

  test("when the state would be larger than 64 KB: 413, an event natively, and nothing is written", async () => {
    const h = await mappingHarness();
    await h.complete("Hello", { chat_id: "c", context });
    const large = { chat_id: "c", context: { account: { plan: "x".repeat(65_500) } } };
    expect((await h.complete("Hello", { chat_id: "c", context: large.context })).status).toBe(413);
    const events = await readEvents(await h.native("Hello", large));
    expect(events.map(({ event }) => event)).toEqual(["error", "done"]);
    const fresh = await h.complete("Hello", { chat_id: "d", context: { customer: { id: "x".repeat(70_000) } } });
    expect(fresh.status).toBe(413);
    expect(await stateOf(h)).toEqual([{ customer: "c-17", _private: { token: "s3cret" } }]);
  });

  test("before the database unpacks what can't fit: 1e308 has 309 digits there", async () => {
    const database = { query: () => Promise.reject(new Error("It was asked")) } as unknown as Database;
    const conversation = { id: "", ref: "", channel: "web", channelId: "" };
    const writing = (count: number) =>
      writeContext(
        database,
        { agentId: "", agentRevision: 1, conversation, subject: "" },
        { numbers: Array.from({ length: count }, () => 1e308) },
      );
    await expect(writing(10_000)).rejects.toMatchObject({ code: "too-large" });
    await expect(writing(10)).rejects.toThrow("It was asked");
  });

  test("by the throttle before anything is written", async () => {
    const h = await mappingHarness();
    const headers = { "X-Forwarded-For": "203.0.113.9" };
    for (let n = 0; n < 20; n += 1) await h.complete("x", { chat_id: "c" }, { headers });
    const refused = await h.complete("x", { chat_id: "c", context }, { headers });
    expect(refused.status).toBe(429);
    expect(await stateOf(h)).toEqual([{}]);
  });

  test("once, as one call of the throttle", async () => {
    const h = await mappingHarness();
    const headers = { "X-Forwarded-For": "203.0.113.9" };
    const statuses: number[] = [];
    for (let n = 0; n < 21; n += 1) {
      statuses.push((await h.complete("x", { chat_id: "c", context }, { headers })).status);
    }
    expect(statuses.slice(0, 20)).toEqual(Array(20).fill(200));
    expect(statuses[20]).toBe(429);
  });

  test("by an agent that was turned off since it was cached", async () => {
    const h = await mappingHarness();
    await h.complete("Hello", { chat_id: "c" });
    await h.services.database.db
      .update(agents)
      .set({ active: false, revision: 99 })
      .where(eq(agents.slug, h.agent.slug));
    expect((await h.complete("Hello", { chat_id: "c", context })).status).toBe(404);
    expect((await h.native("Hello", { chat_id: "c", context })).status).toBe(404);
    expect(await stateOf(h)).toEqual([{}]);
  });
});

describe("the state of a conversation", () => {
  const noting = (key: string, value: unknown) => [...toolCall("n", "setState", { key, value }), finish("tool-calls")];

  const reading = (args: object) => [...toolCall("g", "getState", args), finish("tool-calls")];

  async function toolHarness(model: ScriptedModel) {
    const h = await mappingHarness(model);
    const path = `/api/instances/${h.agent.slug}/tools`;
    const enabled = ["getState", "setState"];
    expect((await h.request(path, { method: "PATCH", headers: h.agent.headers, json: { enabled } })).status).toBe(200);
    return h;
  }

  test("is changed by the model, kept, read and removed; others' keys are left alone", async () => {
    const model = scriptedModel([
      { parts: noting("step", { n: 1 }) },
      reply("Noted."),
      { parts: reading({}) },
      reply("Read."),
      { parts: noting("step", null) },
      reply("Gone."),
    ]);
    const h = await toolHarness(model);
    await h.complete("1", { chat_id: "c", context });
    expect(await stateOf(h)).toEqual([{ customer: "c-17", step: { n: 1 }, _private: { token: "s3cret" } }]);
    await h.complete("2", { chat_id: "c" });
    const [answer] = (await h.stored()).messages.filter(({ content }) => content === "Read.");
    expect(answer?.steps).toMatchObject([
      { toolResults: [{ result: { state: { customer: "c-17", step: { n: 1 } } } }] },
      {},
    ]);
    expect(JSON.stringify(answer)).not.toContain("s3cret");
    await h.complete("3", { chat_id: "c" });
    expect(await stateOf(h)).toEqual([{ customer: "c-17", _private: { token: "s3cret" } }]);
  });

  test("keeps what a waiting call's context wrote while a turn changed other keys", async () => {
    const first = gate();
    const model = scriptedModel([
      { parts: noting("step", 1) },
      { parts: [first.promise, text("One"), finish()] },
      reply("Two"),
    ]);
    const h = await toolHarness(model);
    const one = h.complete("1", { chat_id: "c" });
    await model.called(2);
    const two = h.complete("2", { chat_id: "c", context });
    await eventually(async () => (await stateOf(h))[0]?.customer === "c-17");
    first.open();
    await Promise.all([one, two]);
    expect(await stateOf(h)).toEqual([{ customer: "c-17", step: 1, _private: { token: "s3cret" } }]);
    expect(promptOf(model, 2)).toContain("step");
  });

  test("holds a waiting call's context in its own turn, whatever the turn before wrote to the same key", async () => {
    const first = gate();
    const model = scriptedModel([
      { parts: [first.promise, ...noting("customer", "old")] },
      reply("One"),
      { parts: reading({}) },
      reply("Two"),
    ]);
    const h = await toolHarness(model);
    const one = h.complete("1", { chat_id: "c" });
    await model.called(1);
    const two = h.complete("2", { chat_id: "c", context });
    await eventually(async () => (await stateOf(h))[0]?.customer === "c-17");
    first.open();
    await Promise.all([one, two]);
    const [answer] = (await h.stored()).messages.filter(({ content }) => content === "Two");
    expect(answer?.steps).toMatchObject([{ toolResults: [{ result: { state: { customer: "c-17" } } }] }, {}]);
    expect((await stateOf(h))[0]?.customer).toBe("c-17");
  });

  test("is a call's own, also when two come at once and neither waits for the other's context", async () => {
    const model = scriptedModel(() => reply("Yes."));
    const h = await toolHarness(model);
    const ids = ["id-of-b", "id-of-c"];
    const send = (id: string) => h.complete(`I am ${id}`, { chat_id: "c", context: { customer: { id } } });
    await Promise.all(ids.map(send));
    for (const { prompt } of model.calls) {
      const asked = JSON.stringify(prompt.at(-1));
      const own = ids.find((id) => asked.includes(id));
      expect(JSON.stringify(prompt[0])).toContain(own);
    }
  });

  test("never grows beyond its limit by what a turn and a waiting call's context write at once", async () => {
    const first = gate();
    const model = scriptedModel([
      { parts: [first.promise, ...noting("mine", "x".repeat(60_000))] },
      reply("One"),
      reply("Two"),
      reply("Three"),
    ]);
    const h = await toolHarness(model);
    const one = h.complete("1", { chat_id: "c" });
    await model.called(1);
    const two = h.complete("2", { chat_id: "c", context: { customer: { id: "y".repeat(60_000) } } });
    await eventually(async () => (await stateOf(h))[0]?.customer !== undefined);
    first.open();
    await Promise.all([one, two]);
    const [state] = await stateOf(h);
    expect([Object.keys(state ?? {}), JSON.stringify(state).length < 64 * 1024]).toEqual([["customer"], true]);
    expect((await h.complete("3", { chat_id: "c", context: { customer: { id: "z" } } })).status).toBe(200);
  });

  test("is measured as JSON, whatever the database makes of it", async () => {
    const model = scriptedModel(() => reply("Yes."));
    const h = await toolHarness(model);
    // Each item takes 9 bytes with its comma; the database adds a space behind the comma.
    const send = (chat_id: string, length: number) =>
      h.complete("Hi", { chat_id, context: { customer: { id: Array.from({ length }, () => 'a, "b') } } });
    expect((await send("c", 7_200)).status).toBe(200);
    expect((await send("d", 7_300)).status).toBe(413);
  });

  test("refuses the reserved key and what is too large, as an error that the model reads", async () => {
    const model = scriptedModel([
      { parts: noting("_private", "x") },
      { parts: noting("big", "x".repeat(70_000)) },
      { parts: reading({ key: "_private" }) },
      reply("Done."),
    ]);
    const h = await toolHarness(model);
    await h.complete("1", { chat_id: "c", context });
    const steps = JSON.stringify((await h.stored()).messages.at(-1)?.steps);
    expect(steps).toContain("The key _private is reserved");
    expect(steps).toContain("The state would be larger than 65536 bytes");
    expect(steps).not.toContain("s3cret");
    expect(await stateOf(h)).toEqual([{ customer: "c-17", _private: { token: "s3cret" } }]);
  });

  test.each([
    "_private\u0000",
    "\u0000_private",
    "_pri\u0000vate",
  ])("keeps what is private from the key %j", async (key) => {
    const model = scriptedModel([{ parts: noting(key, "mine") }, { parts: noting(key, null) }, reply("Done.")]);
    const h = await toolHarness(model);
    await h.complete("1", { chat_id: "c", context });
    const steps = JSON.stringify((await h.stored()).messages.at(-1)?.steps);
    expect(steps.match(/The key _private is reserved/g)).toHaveLength(2);
    expect(await stateOf(h)).toEqual([{ customer: "c-17", _private: { token: "s3cret" } }]);
  });

  test("of a call without chat_id lives as long as its turn", async () => {
    const model = scriptedModel([{ parts: noting("step", 1) }, { parts: reading({ key: "step" }) }, reply("Done.")]);
    const h = await toolHarness(model);
    const events = await readEvents(await h.native("1"));
    expect(events.filter(({ event }) => event === "tool-result").map(({ data }) => data.result)).toEqual([
      { saved: true },
      { key: "step", value: 1 },
    ]);
    expect(await h.services.database.db.select().from(conversations)).toEqual([]);
  });
});
