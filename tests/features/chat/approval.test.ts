import { asc, eq, isNotNull } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import type { EgressRequest } from "../../../src/core/ports.ts";
import { toolCalls, turns } from "../../../src/db/schema.ts";
import { createEngine } from "../../../src/engine.ts";
import { finish, reply, scriptedModel, text, toolCall } from "../../scripted-model.ts";
import { type ChatHarness, chatHarness, dataLines, eventually, readEvents } from "./chat.ts";

const url = "https://shop.example/pay";

/** A model that calls the tool `shop:pay` and then says whether the call was refused. */
const payer = () =>
  scriptedModel(({ prompt }) => {
    const last = prompt.at(-1);
    if (last?.role === "tool") return reply(JSON.stringify(last.content).includes("refused") ? "Not paid." : "Paid.");
    const said = last?.role === "user" ? JSON.stringify(last.content) : undefined;
    if (!said?.includes("pay")) return reply("Hello.");
    const call = toolCall("call_1", "httpRequest", { url, method: "POST" });
    return { parts: [...text("I will pay."), ...call, finish("tool-calls")] };
  });

/** An agent whose calls need a person's approval. */
async function paying(model = payer()) {
  const asked: EgressRequest[] = [];
  const egress = {
    request: async (request: EgressRequest) => {
      asked.push(request);
      return { status: 200, headers: {}, body: "paid", url: request.url };
    },
  };
  const h = await chatHarness(model, {}, { egress });
  const { agent } = h;
  const limit = async ({ slug, headers }: Pick<typeof agent, "slug" | "headers">) => {
    const json = { enabled: ["httpRequest"], needsApproval: ["httpRequest"] };
    expect((await h.request(`/api/instances/${slug}/tools`, { method: "PATCH", headers, json })).status).toBe(200);
  };
  await limit(agent);
  const ref = `${agent.slug}:web:api-c`;
  /** The calls that needed an approval, the newest last. */
  const calls = () =>
    h.services.database.db.select().from(toolCalls).where(isNotNull(toolCalls.args)).orderBy(asc(toolCalls.createdAt));
  const decide = async (json: object, { id = ref, call = "", headers = agent.headers } = {}) => {
    const toolCallId = call || (await calls()).at(-1)?.toolCallId;
    const path = `/api/conversations/${encodeURIComponent(id)}/approvals/${toolCallId}`;
    return h.request(path, { method: "POST", headers, json });
  };
  /** The final states of the calls of all turns, sorted. */
  const statuses = async () => {
    const rows = await h.services.database.db.select({ status: toolCalls.status }).from(toolCalls);
    return rows.map(({ status }) => status).sort();
  };
  return { ...h, asked, model, ref, calls, decide, limit, statuses };
}

/** An id of the engine's, since models may give all calls the same id. */
const ownId = expect.stringMatching(/^call_[0-9a-f]{24}$/);

const answer = (h: ChatHarness, count: number) =>
  eventually(async () => {
    const { messages } = await h.stored();
    return messages.length >= count && messages.at(-1);
  });

describe("a call that needs approval", () => {
  test("ends the native turn with the waiting call, and its approval makes the call and continues", async () => {
    const h = await paying();
    const events = await readEvents(await h.native("Please pay", { chat_id: "c" }));
    expect(events.map(({ event }) => event)).toEqual([
      ...["step-start", "text-delta", "tool-call", "step-finish", "done"],
    ]);
    expect(events.at(-2)?.data).toMatchObject({ finishReason: "approval" });
    expect(events.at(-1)?.data).toMatchObject({
      conversationId: h.ref,
      messageId: expect.any(String),
      metadata: { approval: { toolCallId: ownId, toolCallIds: [ownId] } },
    });
    expect(events.at(-1)?.data.metadata).toMatchObject({ approval: { toolCallId: events[2]?.data.id } });
    expect(h.asked).toEqual([]);

    const decided = await h.decide({ approved: true });
    expect([decided.status, await decided.json()]).toEqual([201, { status: "approved" }]);
    const last = await answer(h, 3);
    expect(last).toMatchObject({ role: "assistant", content: "Paid." });
    expect(last.steps).toMatchObject([
      { toolCalls: [{ toolName: "httpRequest" }], toolResults: [{ toolCallId: ownId, result: { status: 200 } }] },
      { text: "Paid." },
    ]);
    expect(h.asked).toMatchObject([{ url, method: "POST" }]);

    // The next turn replays the whole transcript.
    await (await h.native("Thanks", { chat_id: "c" })).text();
    const roles = h.model.calls.at(-1)?.prompt.map(({ role }) => role);
    expect(roles).toEqual(["system", "user", "assistant", "assistant", "tool", "assistant", "user"]);
  });

  test("on /v1 is a sentence behind the text, streamed and not", async () => {
    const h = await paying();
    const whole = (await (await h.complete("pay", { chat_id: "c" })).json()) as { choices: { message: object }[] };
    expect(whole.choices[0]?.message).toMatchObject({
      content: "I will pay.\n\nApproval is pending for: httpRequest.",
    });
    const streamed = await (await h.complete("pay", { chat_id: "d", stream: true })).text();
    const said = dataLines(streamed)
      .slice(0, -1)
      .map((line) => JSON.parse(line).choices[0].delta.content ?? "");
    expect(said.join("")).toBe("I will pay.\n\nApproval is pending for: httpRequest.");
    expect(streamed).toContain('"finish_reason":"stop"');
  });

  test("refused, the model hears the reason and answers; nothing is called", async () => {
    const h = await paying();
    await (await h.native("pay", { chat_id: "c" })).text();
    expect((await h.decide({ approved: false, reason: "Too dear" })).status).toBe(201);
    expect(await answer(h, 3)).toMatchObject({ content: "Not paid." });
    expect(JSON.stringify(h.model.calls.at(-1)?.prompt)).toContain("A person refused this call: Too dear");
    expect(h.asked).toEqual([]);
    // Neither the analytics nor the log count it as a failed call.
    const { toolUsage } = await (await h.request("/api/analytics", { headers: h.agent.headers })).json();
    expect(toolUsage).toEqual([]);
    expect(await h.statuses()).toEqual(["refused", "refused"]);
    const lines = h.logs.map((line) => JSON.parse(line));
    expect(lines.filter(({ continues }) => continues)).toMatchObject([{ message: "A turn ended", failedCalls: 0 }]);
  });

  test("continues after a restart: the decision was stored, the process died", async () => {
    const h = await paying();
    await (await h.native("pay", { chat_id: "c" })).text();
    // The decision is stored, but the stopped engine does not continue the turn.
    await h.engine.stop(0);
    expect((await h.decide({ approved: true })).status).toBe(201);
    const restarted = createEngine(h.services);
    await restarted.tick();
    expect(await answer(h, 3)).toMatchObject({ content: "Paid." });
    await restarted.tick();
    expect(h.asked).toHaveLength(1);
    expect((await h.stored()).turns.map(({ status }) => status)).toEqual(["done", "done"]);
    await restarted.stop(0);
  });

  test("is made once, however many replicas continue at the same time", async () => {
    const h = await paying();
    await (await h.native("pay", { chat_id: "c" })).text();
    const others = [createEngine(h.services), createEngine(h.services)];
    await Promise.all([h.decide({ approved: true }), ...others.map((other) => other.tick())]);
    await Promise.all(others.map((other) => other.tick()));
    await answer(h, 3);
    await Promise.all([h.engine.tick(), ...others.map((other) => other.tick())]);
    expect(h.asked).toHaveLength(1);
    for (const other of others) await other.stop(0);
  });

  test.each([
    ["refuses", "update agents set monthly_token_budget = 1, revision = revision + 1 where slug = $1", ["info"]],
    [
      "can't be loaded",
      "update secrets set key_id = 'gone' where agent_id = (select id from agents where slug = $1)",
      Array(51).fill("error"),
    ],
  ])("goes on though many older ones wait for an agent that %s", async (_what, spoil, logged) => {
    const h = await paying();
    const { database } = h.services;
    const other = await h.anotherAgent();
    await h.limit(other);
    await (await h.native("pay", { chat_id: "c" })).text();
    await h.engine.stop(0);
    expect((await h.decide({ approved: true })).status).toBe(201);
    await database.query(
      `with copy as (
         insert into turns select (jsonb_populate_record(t, jsonb_build_object('id', gen_random_uuid(), 'ticket', 100 + n))).*
         from turns t, generate_series(1, 50) n returning id
       )
       insert into tool_calls
       select (jsonb_populate_record(k, jsonb_build_object('id', gen_random_uuid(), 'turn_id', copy.id))).*
       from tool_calls k, copy`,
      [],
    );
    await database.query(spoil, [h.agent.slug]);
    const later = createEngine(h.services);
    const json = { messages: [{ role: "user", content: "pay" }], chat_id: "c" };
    const headers = { Authorization: `Bearer ${other.key}`, "Content-Type": "application/json" };
    const path = `/api/instances/${other.slug}/chat/stream`;
    await (await later.app.request(path, { method: "POST", headers, body: JSON.stringify(json) })).text();
    const theirs = { id: `${other.slug}:web:api-c`, headers: other.headers };
    expect((await h.decide({ approved: true }, theirs)).status).toBe(201);
    // The stopped engine logs for both decisions that it can't continue the turn.
    await eventually(async () => h.logs.filter((line) => line.includes("could not go on")).length === 2);

    const before = h.logs.length;
    await later.tick();
    await eventually(async () => h.asked.length === 1);
    const lines = h.logs.slice(before).map((line) => JSON.parse(line));
    expect(lines.filter(({ message }) => !/^A turn /.test(message)).map(({ level }) => level)).toEqual(logged);
    expect((await h.stored()).turns.filter(({ status }) => status === "approval")).toHaveLength(51);
    await later.stop(0);
  });

  test("is refused by the end user's next message, and can't be approved any more", async () => {
    const h = await paying();
    await (await h.native("pay", { chat_id: "c" })).text();
    await (await h.native("Never mind", { chat_id: "c" })).text();
    const late = await h.decide({ approved: true });
    expect([late.status, (await late.json()).message]).toEqual([409, "This call is refused already"]);
    await h.engine.tick();
    expect(h.asked).toEqual([]);
    const { db } = h.services.database;
    expect(await db.select({ status: turns.status }).from(turns)).toEqual([{ status: "done" }, { status: "done" }]);
  });

  test("is made under the name it was approved for, once, also when the model calls every call the same", async () => {
    const h = await paying();
    await (await h.native("pay", { chat_id: "c" })).text();
    const [first] = await h.calls();
    await (await h.native("pay again", { chat_id: "c" })).text();
    const late = await h.decide({ approved: true }, { call: first?.toolCallId ?? "" });
    expect([late.status, (await late.json()).message]).toEqual([409, "This call is refused already"]);
    expect((await h.decide({ approved: true })).status).toBe(201);
    await answer(h, 5);
    expect(h.asked).toHaveLength(1);
    const ids = h.model.calls
      .at(-1)
      ?.prompt.flatMap(({ role, content }) =>
        role === "assistant" ? content.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : [])) : [],
      );
    expect(new Set(ids).size).toBe(ids?.length);
  });

  test("that was approved is not made any more once the user went on", async () => {
    const h = await paying();
    await (await h.native("pay", { chat_id: "c" })).text();
    await h.engine.stop(0);
    expect((await h.decide({ approved: true })).status).toBe(201);
    const restarted = createEngine(h.services);
    const body = { messages: [{ role: "user", content: "Stop" }], chat_id: "c" };
    const headers = { Authorization: `Bearer ${h.agent.key}`, "Content-Type": "application/json" };
    const path = `/api/instances/${h.agent.slug}/chat/stream`;
    const asked = await restarted.app.request(path, { method: "POST", headers, body: JSON.stringify(body) });
    await asked.text();
    await restarted.tick();
    expect(h.asked).toEqual([]);
    await restarted.stop(0);
  });

  test("chains: each decision leads on, with the whole of it in front of the model once", async () => {
    const asked: EgressRequest[] = [];
    const egress = {
      request: async (request: EgressRequest) => {
        asked.push(request);
        return { status: 200, headers: {}, body: "ok", url: request.url };
      },
    };
    const model = scriptedModel((_, index) =>
      index < 2
        ? { parts: [...text(`Part ${index}.`), ...toolCall("same", "httpRequest", { url }), finish("tool-calls")] }
        : reply("Both done."),
    );
    const h = await chatHarness(model, { historyLimit: 1 }, { egress });
    await h.request(`/api/instances/${h.agent.slug}/tools`, {
      method: "PATCH",
      headers: h.agent.headers,
      json: { enabled: ["httpRequest"], needsApproval: ["httpRequest"] },
    });
    const ref = encodeURIComponent(`${h.agent.slug}:web:api-c`);
    await (await h.native("Do both", { chat_id: "c" })).text();
    const { db } = h.services.database;
    for (const round of [1, 2]) {
      const pending = await eventually(async () => {
        const rows = await db.select().from(toolCalls).where(eq(toolCalls.status, "pending"));
        return rows[0];
      });
      const path = `/api/conversations/${ref}/approvals/${pending.toolCallId}`;
      expect(
        (await h.request(path, { method: "POST", headers: h.agent.headers, json: { approved: true } })).status,
      ).toBe(201);
      await answer(h, round + 2);
    }
    const prompt = model.calls[2]?.prompt ?? [];
    expect(prompt.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool", "assistant", "tool"]);
    expect(JSON.stringify(prompt[1])).toContain("Do both");
    expect(JSON.stringify(prompt).split("Part 0.")).toHaveLength(2);
    expect(asked).toHaveLength(2);
  });

  test("whose continuation fails before it begins leaves a message that says so", async () => {
    const h = await paying();
    const asked = (await readEvents(await h.native("pay", { chat_id: "c" }))).at(-1);
    h.services.models.resolve = async () => {
      throw new Error("No key");
    };
    expect((await h.decide({ approved: true })).status).toBe(201);
    expect(await answer(h, 3)).toMatchObject({ role: "assistant", metadata: { error: { code: expect.any(String) } } });
    expect(h.asked).toEqual([]);
    const path = `/api/instances/${h.agent.slug}/chat/stream/${asked?.data.messageId}`;
    const headers = { Authorization: `Bearer ${h.agent.key}`, "Last-Event-ID": asked?.id ?? "" };
    const resumed = await readEvents(await h.request(path, { headers }));
    expect(resumed.at(-1)?.data.messageId).toBe((await answer(h, 3)).id);
  });

  test("can't be decided while the agent is off", async () => {
    const h = await paying();
    await (await h.native("pay", { chat_id: "c" })).text();
    const path = `/api/instances/${h.agent.slug}`;
    await h.request(path, { method: "PATCH", headers: h.agent.headers, json: { active: false } });
    expect((await h.decide({ approved: true })).status).toBe(409);
  });

  test("in the playground is made while the agent is off", async () => {
    const h = await paying();
    const path = `/api/instances/${h.agent.slug}`;
    await h.request(path, { method: "PATCH", headers: h.agent.headers, json: { active: false } });
    const json = { messages: [{ role: "user", content: "pay" }], chat_id: "p" };
    const play = { method: "POST", headers: h.agent.headers, json };
    await (await h.request(`${path}/playground/stream`, play)).text();
    const decided = await h.decide({ approved: true }, { id: `${h.agent.slug}:playground:p` });
    expect(decided.status).toBe(201);
    expect(await answer(h, 3)).toMatchObject({ content: "Paid." });
    expect(h.asked).toHaveLength(1);
  });

  test("continues with the model that was chosen instead of the agent's", async () => {
    const h = await paying();
    const json = { messages: [{ role: "user", content: "pay" }], chat_id: "p", model: "openai:other" };
    const play = { method: "POST", headers: h.agent.headers, json };
    await (await h.request(`/api/instances/${h.agent.slug}/playground/stream`, play)).text();
    await h.decide({ approved: true }, { id: `${h.agent.slug}:playground:p` });
    await answer(h, 3);
    const asked = (await h.stored()).turns.map(({ provider, model }) => `${provider}:${model}`);
    expect(asked).toEqual(["openai:other", "openai:other"]);
  });

  test("leaves the continued turn its data: the user, and the memories of them", async () => {
    const h = await paying();
    const { slug, headers } = h.agent;
    const memory = { instanceId: slug, content: "Is called Miez by friends.", subject: "ada" };
    expect((await h.request("/memories", { method: "POST", headers, json: memory })).status).toBe(201);
    const said = [{ role: "user", content: "pay for Miez" }];
    const play = { method: "POST", headers, json: { messages: said, chat_id: "p", user: "ada" } };
    await (await h.request(`/api/instances/${slug}/playground/stream`, play)).text();
    await h.decide({ approved: true }, { id: `${slug}:playground:p` });
    await answer(h, 3);
    const systems = h.model.calls.map(({ prompt }) => String(prompt[0]?.content).replaceAll(/\d\d:\d\d/g, ""));
    expect(systems).toHaveLength(2);
    expect(systems[0]).toMatch(/Is called Miez by friends\.[\s\S]*owner/);
    expect(systems[1]).toBe(systems[0]);
  });

  test("expires after a day", async () => {
    const h = await paying();
    await (await h.native("pay", { chat_id: "c" })).text();
    const { db } = h.services.database;
    await db
      .update(toolCalls)
      .set({ expiresAt: new Date(Date.now() - 1000) })
      .where(eq(toolCalls.status, "pending"));
    const late = await h.decide({ approved: true });
    expect([late.status, (await late.json()).message]).toEqual([409, "The time to decide about this call is over"]);
    await h.engine.tick();
    expect(await db.select({ status: toolCalls.status }).from(toolCalls)).toEqual([{ status: "expired" }]);
    expect((await h.decide({ approved: true })).status).toBe(409);
  });

  test("that was approved is not made any more when its agent could not go on for an hour after the day", async () => {
    const h = await paying(
      scriptedModel([
        {
          parts: [
            ...toolCall("a", "httpRequest", { url }),
            ...toolCall("b", "httpRequest", { url }),
            finish("tool-calls"),
          ],
        },
        reply("Paid."),
      ]),
    );
    await (await h.native("pay both", { chat_id: "c" })).text();
    const [first] = await h.calls();
    const approve = () => h.decide({ approved: true }, { call: first?.toolCallId ?? "" });
    expect((await approve()).status).toBe(201);
    const turn = async (active: boolean) =>
      h.request(`/api/instances/${h.agent.slug}`, { method: "PATCH", headers: h.agent.headers, json: { active } });
    await turn(false);
    const { db } = h.services.database;
    await db.update(toolCalls).set({ expiresAt: new Date(Date.now() - 61 * 60_000) });
    await h.engine.tick();
    await turn(true);
    await h.engine.tick();
    expect(h.asked).toEqual([]);
    expect((await h.calls()).map(({ status }) => status)).toEqual(["expired", "expired"]);
    const late = await approve();
    expect([late.status, (await late.json()).message]).toEqual([409, "The time to decide about this call is over"]);
    expect((await h.stored()).turns.map(({ status }) => status)).toEqual(["done"]);
  });

  test("that were not decided in time are cancelled, but the approved ones are made, also after a restart", async () => {
    const calls = [1, 2].flatMap((n) => toolCall(`call_${n}`, "httpRequest", { url: `${url}/${n}`, method: "POST" }));
    const model = scriptedModel([{ parts: [...calls, finish("tool-calls")] }, reply("One is paid.")]);
    const h = await paying(model);
    await (await h.native("pay both", { chat_id: "c" })).text();
    const [first] = await h.calls();
    const decide = () => h.decide({ approved: true }, { call: first?.toolCallId ?? "" });
    expect((await decide()).status).toBe(201);
    await h.services.database.db.update(toolCalls).set({ expiresAt: new Date(Date.now() - 1000) });
    await h.engine.stop(0);
    const restarted = createEngine(h.services);
    await restarted.tick();
    expect(await answer(h, 3)).toMatchObject({ content: "One is paid." });
    expect(h.asked).toHaveLength(1);
    const results = JSON.stringify(model.calls[1]?.prompt.at(-1));
    expect(results).toContain("Nobody decided about this call in time");
    expect(results).toContain("paid");
    expect(await h.statuses()).toEqual(["approved", "executed", "expired", "expired"]);
    const repeated = await decide();
    expect([repeated.status, (await repeated.json()).message]).toEqual([409, "This call is approved already"]);
    await restarted.tick();
    expect((await h.stored()).turns.map(({ status }) => status)).toEqual(["done", "done"]);
    await restarted.stop(0);
  });

  test("is decided once, by those who may, in reach, and what is not there is a 404", async () => {
    const h = await paying();
    await (await h.native("pay", { chat_id: "c" })).text();
    expect((await h.decide({ approved: true }, { headers: await h.as("viewer") })).status).toBe(403);
    const stranger = await h.as("owner", { organization: await h.createOrganization("other") });
    const foreign = await h.decide({ approved: true }, { headers: stranger });
    const missing = await h.decide({ approved: true }, { id: `${h.agent.slug}:web:api-none` });
    expect([foreign.status, missing.status]).toEqual([404, 404]);
    expect(await foreign.text()).toBe(await missing.text());
    expect((await h.decide({ approved: true }, { call: "call_2" })).status).toBe(404);
    expect((await h.decide({ approved: "yes" })).status).toBe(400);
    expect((await h.decide({ approved: true }, { id: "\0" })).status).toBe(404);

    const both = await Promise.all([h.decide({ approved: true }), h.decide({ approved: false })]);
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409]);
    await answer(h, 3);
    expect((await h.decide({ approved: true })).status).toBe(409);
  });

  test("without a chat_id no person can approve: the model hears that", async () => {
    const h = await paying();
    const body = (await (await h.complete("pay")).json()) as { choices: { message: { content: string } }[] };
    expect(body.choices[0]?.message.content).toBe("I will pay.Paid.");
    expect(h.asked).toEqual([]);
    expect(await h.statuses()).toEqual(["refused"]);
  });
});
