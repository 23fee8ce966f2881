import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import { agents, budgetPeriods, toolCalls, turns, workspaces } from "../../../src/db/schema.ts";
import { plainText } from "../../plain-text.ts";
import { finish, gate, reply, text, toolCall } from "../../scripted-model.ts";
import { asking, askOnce, heard } from "./asking.ts";
import { eventually } from "./chat.ts";

const names = (tools: readonly { name: string }[] | undefined) => tools?.map(({ name }) => name);

/** One step with `count` calls of the same tool. */
const askTimes = (count: number) => ({
  parts: [
    ...Array.from({ length: count }, (_, index) =>
      toolCall(`c${index}`, "ask_helper", { message: `Question ${index}` }),
    ).flat(),
    finish("tool-calls"),
  ],
});

describe("an agent that asks another one", () => {
  test("gets its reply as the result of the call", async () => {
    const h = await asking();
    const events = await h.say("When do I get my money back?");
    expect(heard(h.models.caller)).toEqual([{ reply: "Thirty days." }]);
    expect(events.map(({ event }) => event)).toEqual([
      ...["step-start", "tool-call", "tool-result", "step-finish", "step-start", "text-delta", "step-finish", "done"],
    ]);
    expect(events[1]?.data).toMatchObject({ name: "agent:helper", args: { message: "How long?" } });
    expect(h.models.caller.calls[0]?.options.tools).toMatchObject([
      { name: "ask_helper", description: "Asks the agent helper" },
    ]);
    expect(h.models.helper.calls[0]?.prompt.at(-1)).toMatchObject({ role: "user", content: [{ text: "How long?" }] });
  });

  test("does so in a conversation of its own, linked to the one it serves, for the same person", async () => {
    const h = await asking();
    await h.say("Hi", { chat_id: "c", user: "ada" });
    const parent = await h.parent();
    const { conversations, messages, turns } = await h.helped();
    expect(conversations).toMatchObject([
      {
        ref: `helper:agent:caller:${parent?.id}`,
        channel: "agent",
        channelId: `caller:${parent?.id}`,
        source: "user",
        subject: "web:ada",
        parentId: parent?.id,
        openTurns: 0,
        awaiting: null,
      },
    ]);
    expect(messages.map(({ role, content }) => [role, content])).toEqual([
      ["user", "How long?"],
      ["assistant", "Thirty days."],
    ]);
    expect(turns).toMatchObject([{ status: "done", subject: "web:ada", promptTokens: 40, completionTokens: 10 }]);
  });

  test("continues in it, and not in that of another chat", async () => {
    const h = await asking();
    await h.say("Hi");
    await h.say("And again");
    const roles = () => h.models.helper.calls.at(-1)?.prompt.map(({ role }) => role);
    expect(roles()).toEqual(["system", "user", "assistant", "user"]);
    expect((await h.helped()).conversations).toHaveLength(1);
    await h.say("Hi", { chat_id: "d" });
    expect(roles()).toEqual(["system", "user"]);
    expect((await h.helped()).conversations).toHaveLength(2);
  });

  test("has nothing stored of it where nothing is stored of its own conversation", async () => {
    const h = await asking();
    await h.say("Hi", {});
    expect(heard(h.models.caller)).toEqual([{ reply: "Thirty days." }]);
    const stored = await h.stored();
    expect([stored.conversations, stored.messages]).toEqual([[], []]);
    expect(stored.turns.map(({ door, conversationId, status }) => [door, conversationId, status]).sort()).toEqual([
      ["agent", null, "done"],
      ["native", null, "done"],
    ]);
  });

  test("may ask several times in one step: they are answered in their order", async () => {
    const h = await asking({ caller: ({ prompt }) => (prompt.at(-1)?.role === "tool" ? reply("Done.") : askTimes(3)) });
    await h.say("Hi");
    expect(heard(h.models.caller)).toEqual(Array(3).fill({ reply: "Thirty days." }));
    const { messages, conversations } = await h.helped();
    expect(conversations).toMatchObject([{ openTurns: 0, messageCount: 6 }]);
    expect(new Set(messages.filter(({ role }) => role === "user").map(({ content }) => content)).size).toBe(3);
  });

  test("finds the line full after 17 questions at once, and all others are answered", async () => {
    const all = gate();
    const h = await asking({
      caller: ({ prompt }) => (prompt.at(-1)?.role === "tool" ? reply("Done.") : askTimes(18)),
      helper: () => ({ opens: all.promise, parts: [...text("Yes."), finish()] }),
    });
    const { database } = h.services;
    const { query } = database;
    let asked = 0;
    database.query = async (sql, parameters) => {
      const rows = await query(sql, parameters);
      if (plainText(sql).includes("insert into turns")) asked += 1;
      return rows as never;
    };
    const said = h.say("Hi");
    // The caller's turn and all 18 questions, with the one that finds the queue full.
    await eventually(async () => asked === 19);
    expect((await h.helped()).turns).toHaveLength(17);
    all.open();
    await said;
    const results = heard(h.models.caller);
    expect(results.filter((result) => JSON.stringify(result) === '{"reply":"Yes."}')).toHaveLength(17);
    expect(results).toContain("The agent helper could not answer: Too many turns wait in this conversation");
  });

  test("waits for nobody else who asks the same one, nor for its own line", async () => {
    const first = gate();
    let asked = 0;
    const h = await asking({
      helper: () => {
        asked += 1;
        return asked === 1 ? { opens: first.promise, ...reply("Slow.") } : reply("Quick.");
      },
    });
    const slow = h.say("Hi", { chat_id: "slow" });
    await h.models.helper.called(1);
    const waiting = h.say("Hi again", { chat_id: "slow" });
    await h.say("Hi", { chat_id: "quick" });
    expect(heard(h.models.caller)).toEqual([{ reply: "Quick." }]);
    first.open();
    await Promise.all([slow, waiting]);
    expect((await h.helped()).turns.map(({ status }) => status)).toEqual(["done", "done", "done"]);
  });

  test.each([
    ["is empty", { message: "" }],
    ["is blank", { message: " \n" }],
    ["is too long", { message: "x".repeat(32_769) }],
    ["is missing", {}],
    ["is no text", { message: 7 }],
  ])("is told what is wrong with a question that %s; nobody is asked", async (_, args) => {
    const h = await asking({
      caller: ({ prompt }) =>
        prompt.at(-1)?.role === "tool"
          ? reply("Done.")
          : { parts: [...toolCall("c", "ask_helper", args), finish("tool-calls")] },
    });
    await h.say("Hi");
    expect(heard(h.models.caller)).toEqual([expect.stringMatching(/^The arguments are not valid: message /)]);
    expect((await h.helped()).turns).toEqual([]);
  });

  test("sees it under a name that models take", async () => {
    const h = await asking();
    await h.send("POST", "/api/instances", { slug: "my-helper.2", provider: "demo", model: "helper" });
    await h.enable("caller", ["agent:helper", "agent:my-helper.2"]);
    await h.say("Hi");
    expect(names(h.models.caller.calls[0]?.options.tools)).toEqual(["ask_helper", "ask_my_helper_2"]);
  });

  test("asks a person first when its owner requires that", async () => {
    const h = await asking();
    await h.enable("caller", ["agent:helper"], ["agent:helper"]);
    const events = await h.say("Hi");
    expect(events.at(-1)?.data).toMatchObject({ metadata: { approval: { toolCallIds: [expect.any(String)] } } });
    expect((await h.helped()).turns).toEqual([]);
    const [call] = await h.services.database.db.select().from(toolCalls);
    await h.send("POST", `/api/conversations/caller%3Aweb%3Aapi-c/approvals/${call?.toolCallId}`, { approved: true });
    await eventually(async () => (await h.helped()).messages.length === 2);
    const parent = await h.parent();
    expect((await h.helped()).conversations).toMatchObject([{ parentId: parent?.id }]);
  });
});

describe("an agent that is asked", () => {
  test("can't ask another agent itself", async () => {
    const h = await asking({ helper: (call) => reply(JSON.stringify(names(call.options.tools))) });
    await h.enable("helper", ["agent:caller", "currentTime"]);
    await h.say("Hi");
    expect(heard(h.models.caller)).toEqual([{ reply: '["currentTime"]' }]);
  });

  test("can't by a name that its model makes up, either", async () => {
    const h = await asking({
      helper: ({ prompt }) =>
        prompt.at(-1)?.role === "tool"
          ? reply("I could not.")
          : { parts: [...toolCall("c", "ask_caller", { message: "And you?" }), finish("tool-calls")] },
    });
    await h.enable("helper", ["agent:caller", "currentTime"]);
    await h.say("Hi");
    expect(heard(h.models.helper)).toEqual(["There is no tool named ask_caller"]);
    expect((await h.helped()).turns).toHaveLength(1);
  });

  test("has no person to approve its calls, and continues without them", async () => {
    const h = await asking({
      helper: ({ prompt }) =>
        prompt.at(-1)?.role === "tool"
          ? reply("I was not allowed to.")
          : { parts: [...toolCall("c", "httpRequest", { url: "https://shop.example/" }), finish("tool-calls")] },
    });
    await h.enable("helper", ["httpRequest"], ["httpRequest"]);
    await h.say("Hi");
    expect(heard(h.models.helper)).toEqual(["A person has to approve this, which nobody can here"]);
    expect(heard(h.models.caller)).toEqual([{ reply: "I was not allowed to." }]);
    expect((await h.helped()).turns).toMatchObject([{ status: "done", suspended: null }]);
  });

  test("tells none of its secrets", async () => {
    const secret = "s3cr3t-of-the-helper-4711";
    const h = await asking({ helper: () => reply("It is s3cr3t-of-", "the-helper-4711.") });
    await h.send("PUT", "/api/instances/helper/secrets", { secrets: [{ key: "openai_api_key", value: secret }] });
    const events = await h.say("Hi");
    expect(heard(h.models.caller)).toEqual([{ reply: expect.stringMatching(/^It is /) }]);
    expect(JSON.stringify([events, await h.stored(), h.models.caller.calls])).not.toMatch(/s3cr3t-of|the-helper-4711/);
  });

  test("spends tokens of its own budget, not of the asker's", async () => {
    const h = await asking({ fields: { monthlyTokenBudget: 5_000 } });
    await h.say("Hi");
    expect(await h.services.database.db.select().from(budgetPeriods)).toMatchObject([{ used: 50, reserved: 0 }]);
    await h.send("PATCH", "/api/instances/helper", { monthlyTokenBudget: 50 });
    await h.say("Hi");
    expect(heard(h.models.caller)).toEqual([
      "The agent helper could not answer: The agent's monthly token budget is used up",
    ]);
  });

  test("that fails is said to have failed, without a word of its provider's", async () => {
    const h = await asking({ helper: () => ({ fail: new Error("The key sk-1 of org-2 is wrong") }) });
    await h.say("Hi");
    expect(heard(h.models.caller)).toEqual(["The agent helper could not answer: Model provider error"]);
  });
});

describe("an agent that can't be asked", () => {
  type Asking = Awaited<ReturnType<typeof asking>>;
  const far = async (h: Asking) => {
    const { db } = h.services.database;
    const id = newId();
    await db.insert(workspaces).values({ id, organizationId: h.organization.id, name: "far" });
    return h.send("PATCH", "/api/instances/helper", { workspaceId: id });
  };
  const ways: [string, (h: Asking) => Promise<unknown>, string][] = [
    [
      "is switched off",
      (h) => h.send("PATCH", "/api/instances/helper", { active: false }),
      "The agent helper is switched off",
    ],
    [
      "is closed to other agents",
      (h) => h.send("PUT", "/api/instances/helper/channels/agent", { enabled: false }),
      "The agent helper does not answer other agents",
    ],
    ["is deleted", (h) => h.send("DELETE", "/api/instances/helper"), "There is no agent helper to ask any more"],
    ["moved to another workspace", far, "There is no agent helper to ask any more"],
  ];

  test.each(ways)("because it %s is no tool any more", async (_, change) => {
    const h = await asking({ caller: () => reply("Alone.") });
    await h.say("Hi");
    expect(names(h.models.caller.calls[0]?.options.tools)).toEqual(["ask_helper"]);
    await change(h);
    await h.say("Hi");
    expect(h.models.caller.calls[1]?.options.tools).toBeUndefined();
  });

  test.each(ways)("because it %s just now is not asked", async (_, change, message) => {
    for (const known of [false, true]) {
      const thought = gate();
      let waits = !known;
      const h = await asking({
        caller: (call, index) => ({ ...(waits ? { opens: thought.promise } : {}), ...askOnce(call, index) }),
      });
      if (known) {
        await h.say("Hi");
        waits = true;
      }
      const calls = h.models.caller.calls.length;
      const said = h.say("Hi");
      await h.models.caller.called(calls + 1);
      await change(h);
      thought.open();
      await said;
      expect(heard(h.models.caller)).toEqual([message]);
    }
  });

  test("is one of another organization, or itself, whatever stands in the database", async () => {
    const h = await asking();
    const { db } = h.services.database;
    const organization = await h.createOrganization("other");
    const headers = await h.as("owner", { organization });
    const json = { slug: "theirs", provider: "demo", model: "helper", workspaceId: organization.workspaceId };
    expect((await h.request("/api/instances", { method: "POST", headers, json })).status).toBe(201);
    const [caller] = await db.select().from(agents).where(eq(agents.slug, "caller"));
    const rows = ["theirs", "caller", "nobody", ""].map((slug) => `('${caller?.id}', 'agent:${slug}', 'manual')`);
    await h.services.database.query(`insert into agent_tools (agent_id, name, source) values ${rows.join()}`, []);
    await h.say("Hi");
    expect(names(h.models.caller.calls[0]?.options.tools)).toEqual(["ask_helper"]);
  });
});

describe("a question that takes too long", () => {
  const never = () => ({ opens: new Promise(() => {}), deaf: true, ...reply("Too late.") });

  test("is given up after the policy's current time limit; the turn continues", async () => {
    const h = await asking({ helper: never });
    const said = h.say("Hi");
    await h.models.helper.called(1);
    await h.clock.advance(59_999);
    expect(h.models.caller.calls).toHaveLength(1);
    await h.clock.advance(1);
    expect((await said).at(-1)?.data).toMatchObject({ messageId: expect.any(String) });
    expect(heard(h.models.caller)).toEqual(["The agent helper did not answer within 60 s"]);
    await eventually(async () => (await h.helped()).turns[0]?.status === "aborted");
    expect((await h.helped()).turns).toMatchObject([{ errorCode: "stop" }]);
    expect((await h.helped()).conversations).toMatchObject([{ openTurns: 0, messageCount: 0 }]);

    h.services.policies.set({ ...h.services.policies.values, agentCallTimeoutSeconds: 3 });
    const again = h.say("Hi");
    await h.models.helper.called(2);
    await h.clock.advance(3_000);
    await again;
    expect(heard(h.models.caller)).toEqual(["The agent helper did not answer within 3 s"]);
  });

  test("may take longer than other tools", async () => {
    const answer = gate();
    const h = await asking({ helper: () => ({ opens: answer.promise, ...reply("At last.") }) });
    h.services.policies.set({ ...h.services.policies.values, agentCallTimeoutSeconds: 120, toolTimeoutSeconds: 5 });
    const said = h.say("Hi");
    await h.models.helper.called(1);
    await h.clock.advance(50_000);
    answer.open();
    await said;
    expect(heard(h.models.caller)).toEqual([{ reply: "At last." }]);
  });

  test("ends with the turn that asked it, and one that waits in line as well", async () => {
    const h = await asking({
      helper: never,
      caller: ({ prompt }) => (prompt.at(-1)?.role === "tool" ? reply("Done.") : askTimes(2)),
    });
    const said = h.say("Hi");
    await eventually(async () => (await h.helped()).turns.length === 2);
    await h.models.helper.called(1);
    await h.services.database.db.update(turns).set({ stopRequested: true }).where(eq(turns.door, "native"));
    await h.engine.renewLeases();
    await said;
    const ended = await eventually(async () => {
      const { turns } = await h.helped();
      return turns.every(({ status }) => status === "aborted") && turns;
    });
    expect(ended.map(({ errorCode }) => errorCode)).toEqual(["stop", "stop"]);
    expect((await h.helped()).conversations).toMatchObject([{ openTurns: 0 }]);
    expect(h.models.caller.calls).toHaveLength(1);
  });

  test("keeps no server from stopping", async () => {
    const h = await asking({ helper: never });
    const said = h.say("Hi");
    await h.models.helper.called(1);
    await h.engine.stop(0);
    await said;
    const { turns } = await h.stored();
    expect(turns.map(({ status }) => status)).toEqual(["aborted", "aborted"]);
  });
});
