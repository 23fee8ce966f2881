import { describe, expect, test } from "vitest";
import { toolCalls, turns } from "../../../src/db/schema.ts";
import { basic } from "../../otlp-receiver.ts";
import { finish, gate, reasoning, reply, scriptedModel, text, toolCall } from "../../scripted-model.ts";
import { spyOnStatements } from "../../statements.ts";
import { readEvents } from "../chat/chat.ts";
import { pair, traced } from "./traced.ts";

const metadata = "langfuse.observation.metadata";

/** A turn that reasons, sets a value, and replies. */
const working = () =>
  scriptedModel((_, index) =>
    index % 2 === 0
      ? {
          parts: [
            ...reasoning("The user wants tea."),
            ...text("A moment."),
            ...toolCall("c1", "setState", { key: "drink", value: "tea" }),
            finish("tool-calls", { input: 40, output: 12 }),
          ],
        }
      : { parts: [...text(" Noted."), finish("stop", { input: 60, output: 3 })] },
  );

describe("a traced turn", () => {
  test("is a root span, and below it each step and each call of a tool, without model and tokens", async () => {
    const h = await traced(working());
    expect((await h.complete("Tea, please", { chat_id: "c" })).status).toBe(200);
    const spans = await h.arrive(4);
    const [turn] = await h.services.database.db.select().from(turns);
    const id = turn?.id ?? "";
    const root = { traceId: id.replaceAll("-", ""), spanId: id.replaceAll("-", "").slice(16) };
    expect(spans.map(({ name, parentSpanId }) => [name, parentSpanId])).toEqual([
      [h.agent.slug, null],
      ["step 1", root.spanId],
      ["step 2", root.spanId],
      ["setState", root.spanId],
    ]);
    const [first, one, two, call] = spans;
    expect(first).toMatchObject({ ...root, failure: null, links: [] });
    const ref = `${h.agent.slug}:web:api-c`;
    expect(first?.attributes).toMatchObject({
      "langfuse.observation.type": "agent",
      "langfuse.observation.input": "Tea, please",
      "langfuse.observation.output": "A moment. Noted.",
      "session.id": ref,
      "langfuse.trace.name": h.agent.slug,
      "langfuse.trace.metadata.conversation_id": ref,
      "langfuse.trace.tags": ["web"],
      [`${metadata}.conversation_id`]: ref,
      [`${metadata}.turn_id`]: id,
      [`${metadata}.status`]: "done",
      [`${metadata}.channel`]: "web",
    });
    expect(JSON.parse(String(one?.attributes["langfuse.observation.output"]))).toEqual({
      text: "A moment.",
      reasoning: "The user wants tea.",
      toolCalls: [{ tool: "setState", args: { key: "drink", value: "tea" } }],
    });
    expect(two?.attributes).toMatchObject({
      "session.id": ref,
      "langfuse.observation.output": '{"text":" Noted."}',
      [`${metadata}.finish_reason`]: "stop",
    });
    expect(call?.attributes).toMatchObject({
      "langfuse.observation.type": "tool",
      "langfuse.observation.input": '{"key":"drink","value":"tea"}',
      [`${metadata}.tool_call_id`]: "c1",
    });
    const [only] = h.receiver.received;
    expect(only).toMatchObject({ path: "/api/public/otel/v1/traces", authorization: basic(pair) });
    expect(only?.body).not.toMatch(/usage|tokens|gen_ai|model/i);
  });

  test("takes no further statement, and does not wait for a backend that never answers", async () => {
    const h = await traced(
      scriptedModel(() => reply("Hi.")),
      { operator: true },
    );
    h.receiver.answer("hang");
    await h.complete("one", { chat_id: "c" });
    await h.clock.advance(1_000);
    const statements = spyOnStatements(h.services.database);
    for (const content of ["two", "three"]) expect((await h.complete(content, { chat_id: "c" })).status).toBe(200);
    expect(statements.texts()).toHaveLength(4);
    expect(h.receiver.received).toEqual([]);
  });

  test("nothing is sent of an agent that is not traced", async () => {
    const h = await traced(working(), { fields: { tracingEnabled: false } });
    await h.complete("Tea, please");
    await h.clock.advance(2_000);
    expect(h.counts()).toEqual({ sent: 0, dropped: 0 });
    expect(h.receiver.received).toEqual([]);
  });

  test("the switch applies from the next turn on, and the key stays", async () => {
    const h = await traced(scriptedModel(() => reply("Hi.")));
    await h.complete("one");
    await h.patch({ tracingEnabled: false });
    await h.complete("two");
    await h.patch({ tracingEnabled: true });
    await h.complete("three");
    const spans = await h.arrive(4);
    const roots = spans.filter(({ parentSpanId }) => parentSpanId === null);
    expect(roots.map(({ attributes }) => attributes["langfuse.observation.input"])).toEqual(["one", "three"]);
  });

  test("a turn that fails says why in the engine's words, with the time of its only step", async () => {
    const h = await traced(scriptedModel([{ fail: new Error("secret words of the provider") }]));
    expect((await h.complete("Hi")).status).toBe(502);
    const [root, step] = await h.arrive(2);
    expect(root).toMatchObject({
      failure: expect.stringMatching(/^Model provider/),
      attributes: { "langfuse.observation.level": "ERROR", [`${metadata}.status`]: "failed" },
    });
    expect(step?.failure).toBe(root?.failure);
    expect(h.receiver.received[0]?.body).not.toContain("secret words");
  });

  test("a turn that was stopped is no error", async () => {
    const waits = gate();
    const h = await traced(scriptedModel([{ parts: [...text("Begun"), waits.promise] }]));
    const said = readEvents(await h.native("Hi", { chat_id: "c" }));
    await h.model.called(1);
    const [turn] = await h.services.database.db.select().from(turns);
    const headers = { Authorization: `Bearer ${h.agent.key}` };
    const path = `/api/instances/${h.agent.slug}/chat/stream/${turn?.id}`;
    expect((await h.request(path, { method: "DELETE", headers })).status).toBeLessThan(300);
    await said;
    const [root, step] = await h.arrive(2);
    expect(root).toMatchObject({
      failure: null,
      attributes: {
        "langfuse.observation.level": "WARNING",
        "langfuse.observation.status_message": "The turn ended early: stop",
        "langfuse.observation.output": "Begun",
      },
    });
    expect(step?.failure).toBeNull();
  });

  test.each([true, false])("a continued turn points to the one that stopped for a decision: %s", async (approved) => {
    const pays = toolCall("c1", "setState", { key: "paid", value: true });
    const model = scriptedModel((_, index) =>
      index === 0 ? { parts: [...pays, finish("tool-calls")] } : reply("Paid."),
    );
    const h = await traced(model, { operator: true });
    const { headers, slug } = h.agent;
    const json = { enabled: ["setState"], needsApproval: ["setState"] };
    expect((await h.request(`/api/instances/${slug}/tools`, { method: "PATCH", headers, json })).status).toBe(200);
    await readEvents(await h.native("Pay", { chat_id: "c" }));
    await h.arrive(6);
    const own = () => h.receiver.spans(basic(pair));
    const first = own();
    expect(first.map(({ name }) => name)).toEqual([slug, "step 1", "setState"]);
    expect(first[0]?.attributes[`${metadata}.status`]).toBe("approval");
    expect(first[2]).toMatchObject({ failure: null, attributes: { [`${metadata}.unfinished`]: "true" } });
    const [{ toolCallId = "" } = {}] = await h.services.database.db.select().from(toolCalls);
    const path = `/api/conversations/${slug}:web:api-c/approvals/${toolCallId}`;
    expect((await h.request(path, { method: "POST", headers, json: { approved } })).status).toBe(201);
    await h.arrive(13);
    const all = own();
    const [before, after] = all.filter(({ parentSpanId }) => parentSpanId === null);
    expect(after?.links).toEqual([{ traceId: before?.traceId, spanId: before?.spanId }]);
    expect(after?.attributes).toMatchObject({ "langfuse.observation.input": "Pay", [`${metadata}.status`]: "done" });
    expect(all.filter(({ traceId }) => traceId === after?.traceId).map(({ name }) => name)).toEqual([
      ...[slug, "step 1", "step 2", "setState"],
    ]);
    // A person's refusal is no failure of the tool.
    expect(all.filter(({ failure }) => failure !== null)).toEqual([]);
    // The decided calls needed no model.
    const operators = h.receiver.spans("").filter(({ traceId }) => traceId === after?.traceId);
    expect(operators.map(({ name }) => name.split(" ")[0])).toEqual(["invoke_agent", "chat", "execute_tool"]);
  });

  test("hooks are spans too, and one that failed says why", async () => {
    const h = await traced(scriptedModel(() => reply("Hi.")));
    const { headers, slug } = h.agent;
    const hook = (args: object) => ({
      event: "message_received",
      actionType: "tool",
      enabled: true,
      actionConfig: { toolName: "getState", args },
    });
    for (const args of [{ key: "drink" }, { key: 5 }]) {
      const made = await h.request(`/api/instances/${slug}/hooks`, { method: "POST", headers, json: hook(args) });
      expect(made.status).toBe(201);
    }
    await h.complete("Hello", { chat_id: "c" });
    const spans = await h.arrive(4);
    const [, , good, bad] = spans;
    expect(good).toMatchObject({
      name: "getState",
      parentSpanId: spans[0]?.spanId,
      failure: null,
      attributes: { "langfuse.observation.input": '{"key":"drink"}', [`${metadata}.hook_event`]: "message_received" },
    });
    expect(bad?.failure).toMatch(/key/);
  });

  test("no secret of the agent is in a trace: not in what people say, in arguments, in results or in a failed hook", async () => {
    const canary = "canary-token-4711";
    const model = scriptedModel((_, index) =>
      index === 0
        ? {
            parts: [
              ...reasoning("It is canary-", "token-4711."),
              ...text("So: canary-tok", "en-4711"),
              ...toolCall("c1", "setState", { key: "k", value: canary }),
              finish("tool-calls"),
            ],
          }
        : reply(`You said ${canary} and ${btoa(canary)} and sk-lf-secret-1.`),
    );
    const h = await traced(model, { operator: true });
    const { headers, slug } = h.agent;
    const json = { secrets: [{ key: "shop_token", value: canary }] };
    expect((await h.request(`/api/instances/${slug}/secrets`, { method: "PUT", headers, json })).status).toBe(200);
    await h.complete(`My token is ${canary}, the other sk-lf-secret-1`, { chat_id: "c" });
    await h.arrive(8);
    const bodies = h.receiver.received.map(({ body }) => body).join();
    expect(bodies).toContain("My token is [secret], the other [secret]");
    for (const secret of [canary, btoa(canary).replaceAll("=", ""), "sk-lf-secret-1"])
      expect(bodies).not.toContain(secret);
  });

  test("a value is cut where it is long, without half a character", async () => {
    const h = await traced(scriptedModel(() => reply("a", "😀".repeat(100_000))));
    await h.complete("Hello");
    const [root] = await h.arrive(2);
    const output = String(root?.attributes["langfuse.observation.output"]);
    expect(output.length).toBeLessThan(66_000);
    expect(output.isWellFormed()).toBe(true);
    expect(output).toMatch(/… \(200001 characters\)$/);
  });
});
