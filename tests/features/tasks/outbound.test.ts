import { eq, isNotNull } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { agents, conversations, messages, optOuts, outbox, scheduledTasks, toolCalls } from "../../../src/db/schema.ts";
import { finish, reply, text, toolCall } from "../../scripted-model.ts";
import { eventually } from "../chat/chat.ts";
import { saveChannel, telegramFields } from "../inbox/messengers.ts";
import { hour, minute, withTasks } from "./tasks.ts";

const place = { outboundChannel: "telegram", outboundTarget: "42" };
const waits = "Somebody has to approve this first. You get the answer here as soon as it is decided.";

type Script = Parameters<typeof withTasks>[0];

/** An agent on Telegram, whose messages are not sent yet. */
async function telling(script: Script, options: Parameters<typeof withTasks>[1] = {}) {
  const h = await withTasks(script, options);
  await saveChannel(h, h.own.slug, "telegram");
  const sent = async () => {
    const rows = await h.db.select().from(outbox).orderBy(outbox.createdAt, outbox.part);
    return rows.map(({ target, body }) => `${target}: ${body}`);
  };
  return { ...h, sent };
}

describe("a message an agent sends in a task", () => {
  test("goes to the task's destination, as its last step", async () => {
    const call = { parts: [text("Let me see."), ...toolCall("call_1", "currentTime"), finish("tool-calls")] };
    const h = await telling([call, reply("It is late.")]);
    await h.enable("currentTime");
    const { id } = await h.create(place);
    await h.runNow(id);
    await eventually(async () => (await h.runs(id))[0]?.status === "completed");
    expect(await h.sent()).toEqual(["42: It is late."]);
    expect(await h.runs(id)).toMatchObject([{ output: "Let me see.It is late." }]);
    // The agent's history contains it when the person answers.
    const read = await eventually(async () => {
      const rows = await h.db
        .select({ content: messages.content, turnId: messages.turnId })
        .from(messages)
        .innerJoin(conversations, eq(conversations.id, messages.conversationId))
        .where(eq(conversations.ref, `${h.own.slug}:telegram:42`));
      return rows.length > 0 && rows;
    });
    expect(read).toEqual([{ content: "It is late.", turnId: null }]);
  });

  test("is sent once, when a retry went well, and a failure is told to no one", async () => {
    const half = { parts: [text("Half"), new Error("Broken")] };
    const h = await telling((_call, index) =>
      index === 0 ? half : index < 4 ? { fail: new Error("Away") } : reply("Done."),
    );
    const failing = await h.create({ ...place, maxRetries: 1 });
    await h.runNow(failing.id);
    for (let n = 0; n < 3; n += 1) await h.pass(minute);
    expect(await h.runs(failing.id)).toMatchObject([{ status: "failed" }]);
    expect(await h.sent()).toEqual([]);
    const { id } = await h.create({ ...place, maxRetries: 3 });
    await h.runNow(id);
    for (let n = 0; n < 4; n += 1) await h.pass(minute);
    expect(await h.runs(id)).toMatchObject([{ status: "completed" }]);
    expect(await h.sent()).toEqual(["42: Done."]);
  });

  test("does not reach a person who stopped the agent", async () => {
    const h = await telling([reply("Hello again.")]);
    const [agent] = await h.db.select({ id: agents.id }).from(agents);
    const person = { agentId: agent?.id ?? "", channel: "telegram", sender: "42", channelId: "42" };
    await h.db.insert(optOuts).values(person);
    const { id } = await h.create(place);
    await h.runNow(id);
    await h.pass(0);
    expect(await h.runs(id)).toMatchObject([{ status: "completed", output: "Hello again." }]);
    expect(await h.db.select().from(outbox)).toMatchObject([
      { status: "failed", error: "The person stopped the agent" },
    ]);
  });
});

describe("a task that the agent made because a person asked for it", () => {
  const fieldsOf = (allowedUserIds: string) => ({ fields: { ...telegramFields, allowedUserIds } });

  test("is skipped once the person is removed from the channel's list, and until they are added again", async () => {
    const h = await telling([reply("For 42."), reply("For all to see."), reply("For 42 again.")]);
    const { id } = await h.create(place);
    const ofOperator = await h.create({ ...place, name: "The operator's" });
    await h.db.update(scheduledTasks).set({ source: "agent", subject: "telegram:42" }).where(eq(scheduledTasks.id, id));
    await saveChannel(h, h.own.slug, "telegram", fieldsOf("42,7"));
    await h.runNow(id);
    await h.pass(0);
    expect(await h.sent()).toEqual(["42: For 42."]);

    await saveChannel(h, h.own.slug, "telegram", fieldsOf("7"));
    await h.runNow(id);
    await h.runNow(ofOperator.id);
    await h.pass(0);
    const error = "The channel's allowedUserIds does not name the person";
    expect(await h.runs(id)).toMatchObject([{ status: "skipped", output: null, error }, { status: "completed" }]);
    expect(await h.sent()).toEqual(["42: For 42.", "42: For all to see."]);
    expect(h.model.calls).toHaveLength(2);

    await saveChannel(h, h.own.slug, "telegram", fieldsOf(""));
    await h.runNow(id);
    await h.pass(0);
    expect((await h.sent())[2]).toBe("42: For 42 again.");
  });

  test("is skipped while the person has stopped the agent, and continues in a group", async () => {
    const h = await telling([reply("For the group.")]);
    const [agent] = await h.db.select({ id: agents.id }).from(agents);
    const { id } = await h.create(place);
    const ofGroup = await h.create({ ...place, name: "The group's", outboundTarget: "-100200" });
    await h.db.update(scheduledTasks).set({ source: "agent", subject: "telegram:42" });
    const person = { agentId: agent?.id ?? "", channel: "telegram", sender: "42", channelId: "42" };
    await h.db.insert(optOuts).values(person);
    await saveChannel(h, h.own.slug, "telegram", fieldsOf("7"));
    await h.runNow(id);
    await h.runNow(ofGroup.id);
    await h.pass(0);
    expect(await h.runs(id)).toMatchObject([{ status: "skipped", error: "The person stopped the agent" }]);
    expect(await h.sent()).toEqual(["-100200: For the group."]);
  });
});

describe("a task whose call needs an approval", () => {
  async function paying() {
    const asked: string[] = [];
    const egress = {
      request: async ({ url }: { url: string }) => {
        asked.push(url);
        return { status: 200, headers: {}, body: "paid", url };
      },
    };
    const call = toolCall("call_1", "httpRequest", { url: "https://shop.example/pay", method: "POST" });
    const pay = { parts: [...text("I will pay."), ...call, finish("tool-calls")] };
    const h = await telling(({ prompt }) => (prompt.at(-1)?.role === "tool" ? reply("Paid.") : pay), { egress });
    await h.enable("httpRequest", { approval: true });
    const { id } = await h.create({ ...place, deleteAfterRun: false });
    await h.pass(hour);
    const decide = async (approved: boolean) => {
      const [conversation] = await h.db.select().from(conversations).where(eq(conversations.source, "scheduled"));
      const [waiting] = await h.db.select().from(toolCalls).where(isNotNull(toolCalls.args));
      const path = `/api/conversations/${encodeURIComponent(conversation?.ref ?? "")}/approvals/${waiting?.toolCallId}`;
      const response = await h.request(path, { method: "POST", headers: h.own.headers, json: { approved } });
      expect(response.status).toBe(201);
    };
    return { ...h, id, asked, decide };
  }

  test("sends nothing to a person who was removed from the channel's list before the decision", async () => {
    const h = await paying();
    await h.db.update(scheduledTasks).set({ source: "agent", subject: "telegram:42" });
    await saveChannel(h, h.own.slug, "telegram", { fields: { ...telegramFields, allowedUserIds: "7" } });
    await h.decide(true);
    await eventually(async () => {
      await h.engine.tick();
      return (await h.runs(h.id))[0]?.status === "completed";
    });
    expect(await h.sent()).toEqual([`42: I will pay.\n\n${waits}`]);
  });

  test("waits, and ends when the call was made, with its reply for the task's destination", async () => {
    const h = await paying();
    expect(await h.runs(h.id)).toMatchObject([
      { status: "running", error: "Somebody has to approve a call of the agent", completedAt: null },
    ]);
    expect(await h.sent()).toEqual([`42: I will pay.\n\n${waits}`]);
    await h.decide(true);
    await eventually(async () => {
      await h.engine.tick();
      return (await h.runs(h.id))[0]?.status === "completed";
    });
    expect(await h.runs(h.id)).toMatchObject([{ output: "Paid.", error: null }]);
    expect((await h.sent())[1]).toBe("42: Paid.");
    expect(h.asked).toHaveLength(1);
  });

  test("does not block upkeep, and its later times are skipped meanwhile", async () => {
    const h = await paying();
    await h.pass(hour);
    expect(await h.runs(h.id)).toMatchObject([
      { status: "skipped", error: "An earlier run had not ended", triggerType: "schedule", conversationId: null },
      { status: "running" },
    ]);
    expect((await h.read(h.id)).nextRunAt).toBe("2026-01-01T03:00:00.000Z");
  });

  test("has failed when it was not decided in time", async () => {
    const h = await paying();
    await h.db
      .update(toolCalls)
      .set({ expiresAt: new Date(0) })
      .where(isNotNull(toolCalls.args));
    await h.pass(minute);
    await h.pass(minute);
    expect(await h.runs(h.id)).toMatchObject([{ status: "failed", error: "Nobody approved a call in time" }]);
    expect(h.asked).toEqual([]);
  });
});
