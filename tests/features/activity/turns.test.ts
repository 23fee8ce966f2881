import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { agents, toolCalls } from "../../../src/db/schema.ts";
import { finish, reasoning, reply, type ScriptStep, scriptedModel, text, toolCall } from "../../scripted-model.ts";
import { chatHarness, eventually } from "../chat/chat.ts";
import { asking, hooked, replacing } from "../hooks/hooked.ts";
import { watch } from "./watch.ts";

const secret = "canary-key-0815-abcdef";

/** An agent with tools and a secret, and its events. */
async function acting(steps: readonly ScriptStep[], tools: object = { enabled: ["currentTime"] }) {
  const egress = {
    request: async ({ url }: { url: string }) => ({ status: 200, headers: {}, body: `paid with ${secret}`, url }),
  };
  const h = await chatHarness(scriptedModel(steps), { slug: "helper", name: "Helper" }, { egress });
  const send = async (method: string, path: string, json: object) => {
    const response = await h.request(path, { method, headers: h.agent.headers, json });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  };
  await send("PATCH", "/api/instances/helper/tools", tools);
  await send("PUT", "/api/instances/helper/secrets", { secrets: [{ key: "openai_api_key", value: secret }] });
  const [row] = await h.services.database.db.select().from(agents);
  const conversation = { agentId: row?.id ?? "", ref: "helper:web:api-c" };
  return { ...h, send, ref: conversation.ref, ...watch(h, conversation) };
}

const calls = (...made: [id: string, name: string, args: object][]): ScriptStep => ({
  parts: [...made.flatMap(([id, name, args]) => toolCall(id, name, args)), finish("tool-calls")],
});

describe("of a turn", () => {
  test.each(["streamed", "whole"])("that is %s, watchers hear what was said, called and thought", async (form) => {
    const h = await acting([
      {
        parts: [...reasoning("Which time ", "is it?"), ...toolCall("t", "currentTime", {}), finish("tool-calls")],
      },
      { parts: [...text("It is late."), finish()] },
    ]);
    const said = { chat_id: "c" };
    const response =
      form === "whole"
        ? await h.complete("What time?", { user: "c" }, { headers: { "x-chat-id": "c" } })
        : await h.native("What time?", said);
    await response.text();

    const ref = form === "whole" ? expect.any(String) : h.ref;
    const events = h.events();
    expect(events).toMatchObject([
      { kind: "conversation", category: "conversation", conversation: { event: "started" }, channel: "web" },
      { kind: "inbound", category: "message", text: "What time?", channel: "web" },
      { kind: "tool-start", category: "tool", tool: "currentTime", status: "running", argsPreview: "{}" },
      { kind: "tool-end", tool: "currentTime", status: "ok", durationMs: expect.any(Number) },
      { kind: "thinking", responsePreview: "Which time is it?" },
      { kind: "reply", responsePreview: "It is late." },
      { kind: "outbound", status: "ok", channel: "web", responsePreview: "It is late." },
    ]);
    for (const event of events) {
      expect(event).toMatchObject({ instance: { slug: "helper", name: "Helper", icon: null }, conversationId: ref });
    }
    const [start, end] = events.filter(({ tool }) => tool === "currentTime").map(({ id }) => String(id));
    expect(start).toMatch(/:start$/);
    expect(end).toBe(start?.replace(/:start$/, ":end"));
    expect(events[3]?.resultPreview).toContain("2026-01-01");
  });

  test("watchers of its conversation hear which rows were stored", async () => {
    const h = await acting([reply("Hello."), reply("Again.")]);
    await (await h.native("Hi", { chat_id: "c" })).text();
    const { messages } = await h.stored();
    expect(h.persisted()).toEqual(messages.map(({ id }) => ({ messageId: id })));
    await (await h.native("Hi", { chat_id: "elsewhere" })).text();
    expect(h.persisted()).toHaveLength(2);
    expect(h.kinds().filter((kind) => kind === "conversation")).toHaveLength(2);
  });

  test("the second of a conversation begins none, and has the icon that the agent has by then", async () => {
    const h = await acting([reply("One."), reply("Two.")]);
    await (await h.native("Hi", { chat_id: "c" })).text();
    const png = Uint8Array.from(
      atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="),
      (c) => c.charCodeAt(0),
    );
    const icon = await h.request("/api/instances/helper/icon", {
      method: "PUT",
      headers: { ...h.agent.headers, "Content-Type": "image/png" },
      body: png,
    });
    expect(icon.status).toBe(200);
    await (await h.native("And now?", { chat_id: "c" })).text();
    const events = h.events();
    expect(events.map(({ kind }) => kind)).toEqual([
      ...["conversation", "inbound", "reply", "outbound"],
      ...["inbound", "reply", "outbound"],
    ]);
    expect(events.at(-1)).toMatchObject({ instance: { icon: ((await icon.json()) as { icon: string }).icon } });
  });

  test("that fails or is stopped, watchers hear why, and each call that began has an end", async () => {
    const h = await acting([
      { parts: [...toolCall("t", "currentTime", {}), new Error("gone")] },
      { parts: [...toolCall("u", "currentTime", {}), new Promise(() => {})] },
    ]);
    await (await h.native("Hi", { chat_id: "c" })).text();
    expect(h.events("inbound", "reply", "outbound")).toMatchObject(
      [
        { kind: "conversation", conversation: { event: "started" } },
        { kind: "tool-start" },
        {
          kind: "tool-end",
          tool: "currentTime",
          status: "failed",
          durationMs: 0,
          text: "The call of currentTime was not made",
          resultPreview: "The call of currentTime was not made",
        },
        { kind: "conversation", status: "failed", conversation: { event: "failed" }, text: /^A turn failed: / },
      ].map(({ text, ...event }) =>
        text instanceof RegExp
          ? { ...event, text: expect.stringMatching(text) }
          : { ...event, ...(text ? { text } : {}) },
      ),
    );
    const second = h.native("Hi", { chat_id: "c" });
    await eventually(async () => h.kinds().filter((kind) => kind === "tool-start").length === 2);
    await h.engine.stop(0);
    await (await second).text();
    expect(h.events().slice(-2)).toMatchObject([
      { kind: "tool-end", status: "failed" },
      { kind: "conversation", conversation: { event: "interrupted" } },
    ]);
  });

  test("no secret is shown, in whosever words", async () => {
    const h = await acting(
      [
        {
          parts: [
            ...reasoning(`I know ${secret.slice(0, 9)}`, `${secret.slice(9)}.`),
            ...toolCall("a", "httpRequest", { url: `https://shop.example/${secret}`, method: "POST", body: secret }),
            ...toolCall("b", "currentTime", { timezone: secret }),
            finish("tool-calls"),
          ],
        },
        { parts: [...text("It is ", secret.slice(0, 12), secret.slice(12)), finish()] },
      ],
      { enabled: ["currentTime", "httpRequest"] },
    );
    await (await h.native(`Is ${secret} yours? ${"x".repeat(600)}`, { chat_id: "c" })).text();
    expect(h.kinds()).toEqual(
      expect.arrayContaining(["inbound", "thinking", "tool-start", "tool-end", "reply", "outbound"]),
    );
    const all = h.texts.join("\n");
    expect(all).not.toContain("canary");
    expect(all.match(/\[secret\]/g)?.length).toBeGreaterThan(6);
    for (const { text, argsPreview = "", resultPreview = "", responsePreview = "" } of h.events()) {
      for (const shown of [text, argsPreview, resultPreview, responsePreview]) {
        expect(String(shown).length).toBeLessThanOrEqual(500);
      }
    }
  });
});

describe("of hooks", () => {
  test("those that fail are warned about, and the rows of all are sent", async () => {
    const h = await hooked(
      scriptedModel([reply("Hello.")]),
      [asking("message_received", "good"), replacing("bad")],
      (path) => (path === "bad" ? Promise.reject(new Error("no route to it")) : {}),
    );
    const [row] = await h.services.database.db.select().from(agents);
    const seen = watch(h, { agentId: row?.id ?? "", ref: h.ref("c") });
    await (await h.native("Hi", { chat_id: "c" })).text();
    expect(seen.events().filter(({ kind }) => kind === "governance")).toMatchObject([
      {
        category: "governance",
        tool: "httpRequest",
        status: "failed",
        text: expect.stringContaining("response_generated failed: "),
      },
    ]);
    const stored = await h.executions("c");
    expect(seen.persisted().filter((row) => "hookExecutionId" in row)).toEqual(
      stored.map(({ id }) => ({ hookExecutionId: id })),
    );
    expect(stored).toHaveLength(2);
  });
});

describe("of a call that a person decides about", () => {
  const pay = () => calls(["p", "httpRequest", { url: "https://shop.example/pay", method: "POST" }]);
  const limited = { enabled: ["httpRequest"], needsApproval: ["httpRequest"] };

  test.each([true, false])("watchers hear that it waits, and what was decided: %s", async (approved) => {
    const h = await acting([pay(), reply("Well.")], limited);
    await (await h.native("Pay", { chat_id: "c" })).text();
    expect(h.events("inbound").slice(1)).toMatchObject([
      { kind: "tool-start", status: "running" },
      {
        kind: "tool-end",
        status: "blocked",
        durationMs: 0,
        resultPreview: "A call of httpRequest waits for a person",
      },
      { kind: "governance", tool: "httpRequest", status: "running" },
      { kind: "conversation", conversation: { event: "approval" } },
    ]);
    const before = h.events().length;
    const [call] = await h.services.database.db.select().from(toolCalls);
    const path = `/api/conversations/${encodeURIComponent(h.ref)}/approvals/${call?.toolCallId}`;
    await h.send("POST", path, { approved });
    await eventually(async () => h.kinds().includes("outbound"));
    const after = h.events().slice(before);
    const decided = [
      { kind: "tool-start", tool: "httpRequest" },
      {
        kind: "tool-end",
        status: approved ? "ok" : "blocked",
        durationMs: expect.any(Number),
        resultPreview: expect.stringMatching(/./),
      },
      { kind: "reply", responsePreview: "Well." },
      { kind: "outbound", responsePreview: "Well." },
    ];
    const refused = { kind: "governance", status: "blocked", tool: "httpRequest", conversationId: h.ref };
    expect(after).toMatchObject(approved ? decided : [refused, ...decided]);
    expect(h.persisted().length).toBe((await h.stored()).messages.length);
  });

  test("watchers hear that it was blocked where no person can decide", async () => {
    const h = await acting(
      [calls(["p", "httpRequest", { url: `https://shop.example/${secret}`, method: "POST" }]), reply("No.")],
      limited,
    );
    await (await h.native("Pay", { chat_id: "c" })).text();
    expect(h.events("inbound", "conversation")).toMatchObject([
      { kind: "tool-start" },
      { kind: "tool-end", status: "blocked", text: "httpRequest was not called" },
      { kind: "governance", status: "blocked" },
      { kind: "reply" },
      { kind: "outbound" },
    ]);
  });

  test("watchers hear that the conversation went on, and that the time was over", async () => {
    const h = await acting([pay(), reply("Never mind."), pay()], limited);
    await (await h.native("Pay", { chat_id: "c" })).text();
    await (await h.native("Forget it", { chat_id: "c" })).text();
    const blocked = () => h.events().filter(({ kind, status }) => kind === "governance" && status === "blocked");
    expect(blocked()).toMatchObject([{ tool: "httpRequest", text: expect.stringContaining("went on") }]);
    await (await h.native("Pay now", { chat_id: "c" })).text();
    const pending = eq(toolCalls.status, "pending");
    await h.services.database.db
      .update(toolCalls)
      .set({ expiresAt: new Date(0) })
      .where(pending);
    await h.engine.tick();
    expect(blocked().slice(1)).toMatchObject([
      {
        tool: "httpRequest",
        conversationId: h.ref,
        text: expect.stringContaining("in time"),
        instance: { slug: "helper" },
      },
    ]);
    await h.engine.tick();
    expect(blocked()).toHaveLength(2);
  });
});

describe("of an agent that asks another", () => {
  test("watchers hear its question begin and end, and what the other one hears and says", async () => {
    const h = await acting([calls(["q", "ask_expert", { message: "How?" }]), reply("So."), reply("Like so.")]);
    const { slug } = await h.anotherAgent({ slug: "expert" });
    await h.send("PATCH", "/api/instances/helper/tools", { enabled: [`agent:${slug}`] });
    await (await h.native("Please", { chat_id: "c" })).text();
    const handoffs = h.events().filter(({ kind }) => kind === "agent-handoff");
    expect(handoffs).toMatchObject([
      { category: "agent", status: "running", handoff: { agent: "expert", phase: "start" }, conversationId: h.ref },
      { status: "ok", handoff: { agent: "expert", phase: "end" }, durationMs: expect.any(Number) },
    ]);
    expect(handoffs.map(({ id }) => String(id).replace(/(start|end)$/, ""))).toSatisfy(([a, b]: string[]) => a === b);
    const others = h.events().filter(({ instance }) => (instance as { slug: string }).slug === "expert");
    expect(others).toMatchObject([
      { kind: "conversation", conversation: { event: "started" } },
      { kind: "inbound", text: "How?", channel: "agent" },
      { kind: "reply", responsePreview: "So." },
      { kind: "outbound", channel: "agent" },
    ]);
  });
});
