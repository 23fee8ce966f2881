import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { auditLogs, scheduledTasks } from "../../../src/db/schema.ts";
import { finish, reply, toolCall } from "../../scripted-model.ts";
import { toolContext } from "../../turn/input.ts";
import { eventually } from "../chat/chat.ts";
import { answering } from "../inbox/answering.ts";
import { telegram, withTool } from "./scheduling.ts";
import { hour, withTasks } from "./tasks.ts";

describe("scheduleTask", () => {
  test("makes a task for the person of the turn, whose result goes to the conversation", async () => {
    const h = await withTool();
    const said = await h.call({ at: "2026-01-02T09:00:00+01:00" });
    const [task] = await h.list();
    expect(said).toEqual({
      id: task?.id,
      nextRun: expect.stringMatching(/^Friday,? 2 January 2026 at 09:00:00 CET$/),
      timezone: "Europe/Rome",
      reply: "sent over telegram",
    });
    expect(task).toMatchObject({
      name: "Remind",
      prompt: "Remind Ada of the milk.",
      source: "agent",
      enabled: true,
      deleteAfterRun: true,
      schedule: { type: "one-shot", runAt: "2026-01-02T08:00:00.000Z" },
      outboundChannel: "telegram",
      outboundTarget: "42",
      nextRunAt: "2026-01-02T08:00:00.000Z",
    });
    const [row] = await h.db.select().from(scheduledTasks);
    expect(row).toMatchObject({ subject: "telegram:42", userName: "Ada", createdBy: null });
    const [entry] = await h.db.select().from(auditLogs).where(eq(auditLogs.action, "agent.task.create"));
    expect(entry).toMatchObject({ actorType: "system", actorName: "scheduleTask", target: h.own.slug });
  });

  test("takes a cron expression in the agent's time zone or another one, and an interval", async () => {
    const h = await withTool();
    await h.call({ name: "A", cron: "0 9 * * *" });
    await h.call({ name: "B", cron: "0 9 * * *", timezone: "America/New_York", deleteAfterRun: true });
    await h.call({ name: "C", everyMinutes: 90 });
    expect((await h.list()).map(({ schedule, deleteAfterRun }) => [schedule, deleteAfterRun])).toEqual([
      [{ type: "cron", expression: "0 9 * * *", timezone: "Europe/Rome" }, false],
      [{ type: "cron", expression: "0 9 * * *", timezone: "America/New_York" }, true],
      [{ type: "interval", everyMs: 5_400_000 }, false],
    ]);
  });

  test("finds the task that the same call made before", async () => {
    const h = await withTool();
    const [one, two] = [await h.call({ everyMinutes: 60 }), await h.call({ everyMinutes: 60 })];
    expect(two).toEqual(one);
    await h.call({ everyMinutes: 61 });
    await h.call(
      { everyMinutes: 60 },
      h.contextOf({ origin: { ...toolContext().origin, ...telegram, channelId: "43" } }),
    );
    expect(await h.list()).toHaveLength(3);
  });

  test("keeps the result where it can't be sent", async () => {
    const h = await withTool();
    const web = { ...toolContext().origin, channel: "web", channelId: "api-1", subject: "web:ada" } as const;
    expect(await h.call({ everyMinutes: 60 }, h.contextOf({ origin: web }))).toMatchObject({
      reply: "kept with the task, not sent to anybody",
    });
    expect(await h.list()).toMatchObject([{ outboundChannel: null, outboundTarget: null }]);
  });

  test("in a task's run sends the result to the task's destination", async () => {
    const call = toolCall("call_1", "scheduleTask", { name: "Again", prompt: "Ask Ada once more.", everyMinutes: 90 });
    const h = await withTool([{ parts: [call, finish("tool-calls")] }, reply("Later.")]);
    await h.enable("scheduleTask");
    const { id } = await h.create({ outboundChannel: "telegram", outboundTarget: "42" });
    await h.runNow(id);
    await eventually(async () => (await h.runs(id))[0]?.status === "completed");
    expect(await h.list()).toMatchObject([
      { id },
      { name: "Again", outboundChannel: "telegram", outboundTarget: "42" },
    ]);
  });

  test.each([
    ["no schedule", {}, "Give exactly one of cron, everyMinutes and at"],
    ["two schedules", { cron: "0 9 * * *", everyMinutes: 5 }, "Give exactly one of"],
    ["a time without a zone", { at: "2026-01-02T09:00:00" }, "a date and a time with a zone"],
    ["the past", { at: "2025-01-02T09:00:00Z" }, "Set runAt to a time in the future"],
    ["a wrong expression", { cron: "every day" }, "five fields"],
    ["an unknown zone", { cron: "0 9 * * *", timezone: "Rome" }, "IANA"],
    ["no prompt", { everyMinutes: 5, prompt: " " }, "prompt"],
  ])("tells the model what is wrong with %s", async (_what, args, words) => {
    const h = await withTool();
    await expect(h.call(args)).rejects.toThrow(words);
    expect(await h.list()).toEqual([]);
  });

  test("makes nothing for a turn that is not stored", async () => {
    const h = await withTool();
    await expect(h.call({ everyMinutes: 5 }, h.contextOf({ conversation: null }))).rejects.toThrow("Nothing of this");
  });

  test("is there only where it is named", async () => {
    const h = await withTool();
    expect(await h.sourceOf({ ...h.agent, named: ["currentTime"] })).toEqual([]);
  });

  test("is no tool of a turn that another agent asked for", async () => {
    const asking = { parts: [toolCall("call_1", "ask_helper", { message: "Remind me" }), finish("tool-calls")] };
    const h = await withTasks(({ options }, index) => {
      if (index === 0) return asking;
      return reply((options.tools ?? []).map(({ name }) => name).join(" ") || "none");
    });
    const helper = await h.another({ slug: "helper", provider: "openai", model: "gpt-x" });
    for (const [slug, tool] of [
      [helper.slug, "scheduleTask"],
      [h.own.slug, "agent:helper"],
    ] as const) {
      const path = `/api/instances/${slug}/tools`;
      const { status } = await h.request(path, { method: "PATCH", headers: helper.headers, json: { enabled: [tool] } });
      expect(status).toBe(200);
    }
    const { id } = await h.create();
    await h.runNow(id);
    await eventually(async () => (await h.runs(id))[0]?.status === "completed");
    expect(h.model.calls[0]?.options.tools?.map(({ name }) => name)).toEqual(["ask_helper"]);
    expect(h.model.calls[1]?.options.tools ?? []).toEqual([]);
  });
});

test("a person on Telegram who asks to be reminded is reminded there, once, and the task is gone", async () => {
  const at = "2026-01-01T10:00:00+01:00";
  const call = toolCall("call_1", "scheduleTask", { name: "Milk", prompt: "Remind Ada of the milk.", at });
  const h = await answering(({ prompt }) => {
    const last = prompt.at(-1);
    if (last?.role === "tool") return reply("I will.");
    return JSON.stringify(last?.content).includes("Remind Ada")
      ? reply("The milk!")
      : { parts: [call, finish("tool-calls")] };
  });
  const { slug, headers } = h.agent;
  const path = `/api/instances/${slug}/tools`;
  await h.request(path, { method: "PATCH", headers, json: { enabled: ["scheduleTask"] } });
  await h.say("Remind me of the milk at ten");
  await h.settle();
  await h.done(1);
  await h.rested();
  expect(await h.sent()).toEqual(["I will."]);
  await h.clock.jump(9 * hour - 2_000);
  await h.engine.tick();
  await eventually(async () => {
    await h.engine.tick();
    return (await h.sent()).length === 2;
  });
  await h.rested();
  const { outbox } = await h.rows();
  expect(outbox.map(({ body, target }) => [body, target])).toEqual([
    ["I will.", "42"],
    ["The milk!", "42"],
  ]);
  await eventually(async () => {
    const { scheduledTasks } = await (await h.request(`/api/instances/${slug}/scheduled-tasks`, { headers })).json();
    return scheduledTasks.length === 0;
  });
});
