import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { conversations, scheduledTasks, turns } from "../../../src/db/schema.ts";
import { finish, gate, reply, text, textDelta, toolCall } from "../../scripted-model.ts";
import { eventually } from "../chat/chat.ts";
import { hour, minute, withTasks } from "./tasks.ts";

const statuses = (runs: readonly { status: string }[]) => runs.map(({ status }) => status);

describe("a task that is due", () => {
  test("gets its prompt in a conversation of its own, and its reply is kept", async () => {
    const h = await withTasks([reply("Done.")]);
    const { id } = await h.create();
    await h.pass(hour - 1);
    expect(await h.runs(id)).toEqual([]);
    await h.pass(1);
    const conversationId = `${h.own.slug}:scheduled:${id}:${Date.parse("2026-01-01T01:00:00Z")}`;
    expect(await h.runs(id)).toEqual([
      {
        id: expect.any(String),
        status: "completed",
        triggerType: "schedule",
        attempts: 1,
        alsoMissed: 0,
        dueAt: "2026-01-01T01:00:00.000Z",
        startedAt: "2026-01-01T01:00:00.000Z",
        completedAt: "2026-01-01T01:00:00.000Z",
        durationMs: 0,
        output: "Done.",
        error: null,
        conversationId,
      },
    ]);
    expect(h.model.calls[0]?.prompt.at(-1)).toMatchObject({ role: "user", content: [{ text: "Report now." }] });
    const [conversation] = await h.db.select().from(conversations);
    const of = { ref: conversationId, channel: "scheduled", source: "scheduled", title: "Report" };
    expect(conversation).toMatchObject(of);
    expect(await h.read(id)).toMatchObject({
      nextRunAt: "2026-01-01T02:00:00.000Z",
      lastRun: { status: "completed", at: "2026-01-01T01:00:00.000Z" },
    });
  });

  test("runs once for each time, however often the tick looks", async () => {
    const h = await withTasks(() => reply("Done."));
    const { id } = await h.create();
    for (let n = 0; n < 6 * 6; n += 1) await h.pass(5 * minute);
    expect((await h.runs(id)).map(({ dueAt, status }) => [dueAt.slice(11, 16), status])).toEqual([
      ["03:00", "completed"],
      ["02:00", "completed"],
      ["01:00", "completed"],
    ]);
  });

  test("begins to the second, between two ticks", async () => {
    const h = await withTasks([reply("Done.")]);
    await h.engine.tick();
    const { id } = await h.create({ schedule: { type: "one-shot", runAt: "2026-01-01T00:00:07Z" } });
    await h.clock.advance(7_000);
    await eventually(async () => (await h.runs(id))[0]?.status === "completed");
    expect((await h.runs(id))[0]?.startedAt).toBe("2026-01-01T00:00:07.000Z");
    expect(await h.read(id)).toMatchObject({ enabled: true, nextRunAt: null });
  });

  test("runs nothing while it is off, and counts nothing as missed when it is on again", async () => {
    const h = await withTasks([reply("Done.")]);
    const { id } = await h.create();
    await h.update(id, { enabled: false });
    await h.pass(3 * hour);
    await h.update(id, { enabled: true });
    await h.pass(10 * minute);
    expect(await h.runs(id)).toEqual([]);
    await h.pass(50 * minute);
    expect(statuses(await h.runs(id))).toEqual(["completed"]);
  });

  test("that was postponed runs at the new time only", async () => {
    const h = await withTasks([reply("Done.")]);
    const { id } = await h.create({ schedule: { type: "one-shot", runAt: "2026-01-01T00:00:20Z" } });
    await h.update(id, { schedule: { type: "one-shot", runAt: "2026-01-01T02:00:00Z" } });
    await h.pass(minute);
    expect(await h.runs(id)).toEqual([]);
    await h.pass(2 * hour);
    expect(await h.runs(id)).toMatchObject([{ triggerType: "schedule", status: "completed" }]);
  });

  test("is deleted after a run that went well, and leaves its conversation", async () => {
    const h = await withTasks([{ fail: new Error("Away") }, reply("Done.")]);
    const { id } = await h.create({ deleteAfterRun: true, maxRetries: 0 });
    await h.pass(hour);
    expect(statuses(await h.runs(id))).toEqual(["failed"]);
    await h.pass(hour);
    expect(await h.list()).toEqual([]);
    expect(await h.rows()).toEqual([]);
    expect(await h.db.select().from(conversations)).toHaveLength(2);
  });

  test("runs to its end when the task is deleted meanwhile", async () => {
    const held = gate();
    const h = await withTasks([{ opens: held.promise, ...reply("Done.") }]);
    const { id } = await h.create();
    await h.runNow(id);
    await h.model.called(1);
    expect((await h.call("DELETE", `/${id}`)).status).toBe(200);
    held.open();
    await h.rested();
    const [turn] = await h.db.select().from(turns);
    expect(turn).toMatchObject({ status: "done", source: "scheduled", door: "tasks" });
    expect(await h.readJobs()).toEqual([]);
  });

  test("keeps none of its messages when its conversation is deleted, before its end or after", async () => {
    const held = gate();
    const midway = [textDelta("canary"), held.promise, textDelta(" bird"), finish()];
    const h = await withTasks([reply("canary"), { parts: midway }]);
    const { id } = await h.create();
    const forget = async () => {
      const [conversation] = await h.db.select().from(conversations);
      const path = `/api/conversations/${encodeURIComponent(conversation?.ref ?? "")}`;
      expect((await h.request(path, { method: "DELETE", headers: h.own.headers })).status).toBe(200);
    };
    await h.pass(hour);
    expect(await h.runs(id)).toMatchObject([{ status: "completed", output: "canary" }]);
    await forget();
    expect(await h.runs(id)).toMatchObject([{ status: "completed", output: null }]);

    await h.runNow(id);
    await h.model.called(2);
    await forget();
    held.open();
    await h.rested();
    await eventually(async () => (await h.runs(id)).every(({ status }) => status !== "running"));
    expect(JSON.stringify(await h.rows())).not.toContain("canary");
  });
});

describe("times that passed without a run", () => {
  test("are recorded, and the last one is run late", async () => {
    const h = await withTasks([reply("Late.")]);
    const { id } = await h.create();
    await h.pass(3 * hour + 10 * minute);
    expect(
      (await h.runs(id)).map(({ dueAt, status, triggerType }) => [dueAt.slice(11, 16), status, triggerType]),
    ).toEqual([
      ["03:00", "completed", "missed"],
      ["02:00", "missed", "schedule"],
      ["01:00", "missed", "schedule"],
    ]);
    expect((await h.read(id)).nextRunAt).toBe("2026-01-01T04:00:00.000Z");
  });

  test("are recorded only, where the task skips them", async () => {
    const h = await withTasks();
    const { id } = await h.create({ onMissed: "skip" });
    await h.pass(2 * hour + 10 * minute);
    expect(await h.runs(id)).toMatchObject([
      {
        status: "missed",
        conversationId: null,
        error: "Nothing could run at that time: no server ran, or the agent was inactive",
      },
      { status: "missed" },
    ]);
    expect(h.model.calls).toEqual([]);
  });

  test("while the agent was inactive are missed, once it is active again", async () => {
    const h = await withTasks([reply("Late.")]);
    const { id } = await h.create();
    await h.active(false);
    await h.pass(2 * hour + 10 * minute);
    expect(await h.runs(id)).toEqual([]);
    expect(await h.readJobs()).toEqual([]);
    await h.active(true);
    await h.pass(minute);
    expect(statuses(await h.runs(id))).toEqual(["completed", "missed"]);
  });

  test("by hand at the very moment of a scheduled one are both run", async () => {
    const h = await withTasks(() => reply("Done."));
    const { id } = await h.create();
    await h.clock.jump(hour);
    const run = await h.runNow(id);
    await eventually(async () => (await h.runs(id)).find((one) => one.id === run)?.status === "completed");
    await h.rested();
    await h.pass(0);
    expect((await h.runs(id)).map(({ dueAt, status }) => [dueAt, status])).toEqual([
      ["2026-01-01T01:00:00.001Z", "completed"],
      ["2026-01-01T01:00:00.000Z", "completed"],
    ]);
  });
});

describe("a run that fails", () => {
  const away = { fail: new Error("Away") };

  test("is retried with growing pauses, and the conversation has no half of it", async () => {
    const h = await withTasks((_call, index) => (index < 2 ? away : reply("Done.")));
    const { id } = await h.create({ maxRetries: 2 });
    await h.runNow(id);
    // The job may not have begun yet.
    await eventually(async () => (await h.runs(id))[0]?.error !== null);
    await h.rested();
    expect(await h.runs(id)).toMatchObject([
      { status: "running", attempts: 1, error: expect.any(String), output: null },
    ]);
    for (let n = 0; n < 3; n += 1) await h.pass(minute);
    expect(await h.runs(id)).toMatchObject([{ status: "completed", attempts: 3, error: null, output: "Done." }]);
    const [conversation] = await h.db.select().from(conversations);
    expect(conversation?.messageCount).toBe(2);
  });

  test("has failed after its retries, and says why", async () => {
    const h = await withTasks(() => away);
    const { id } = await h.create({ maxRetries: 1 });
    await h.runNow(id);
    for (let n = 0; n < 3; n += 1) await h.pass(minute);
    expect(await h.runs(id)).toMatchObject([
      { status: "failed", attempts: 2, error: "Model provider error", completedAt: expect.any(String) },
    ]);
    expect(await h.readJobs()).toEqual([]);
  });

  test("after it changed something outside is not retried", async () => {
    const call = [
      ...text("I will."),
      ...toolCall("call_1", "httpRequest", { url: "https://shop.example/pay", method: "POST" }),
      finish("tool-calls"),
    ];
    const asked: string[] = [];
    const egress = {
      request: async ({ url }: { url: string }) => {
        asked.push(url);
        return { status: 200, headers: {}, body: "paid", url };
      },
    };
    const h = await withTasks((_call, index) => (index === 0 ? { parts: call } : away), { egress });
    await h.enable("httpRequest");
    const { id } = await h.create();
    await h.runNow(id);
    for (let n = 0; n < 2; n += 1) await h.pass(minute);
    expect(await h.runs(id)).toMatchObject([
      {
        status: "failed",
        attempts: 1,
        output: "I will.",
        error: "Model provider error. It is not tried again, since tools were called",
      },
    ]);
    expect(asked).toHaveLength(1);
  });

  test("because somebody stopped it is not retried", async () => {
    const h = await withTasks([{ parts: [text("Half"), new Promise(() => {})] }]);
    const { id } = await h.create();
    await h.runNow(id);
    await h.model.called(1);
    const [turn] = await h.db.select().from(turns);
    h.services.notify.publish("turn-stopped", turn?.id ?? "");
    await eventually(async () => (await h.runs(id))[0]?.status === "failed");
    expect(await h.runs(id)).toMatchObject([{ error: "Somebody stopped the turn", output: "Half" }]);
  });

  test("while the agent is inactive says so", async () => {
    const h = await withTasks([away, away, away]);
    const { id } = await h.create();
    await h.runNow(id);
    await h.rested();
    await h.active(false);
    for (let n = 0; n < 2; n += 1) await h.pass(minute);
    expect(await h.runs(id)).toMatchObject([{ status: "failed", error: "The agent is inactive" }]);
  });
});

test("a schedule that can't be read any more ends with a failed run, not in a loop", async () => {
  const h = await withTasks();
  const { id } = await h.create();
  const schedule = { type: "cron", expression: "0 * * * *", timezone: "Europe/Atlantis" };
  await h.db.update(scheduledTasks).set({ schedule }).where(eq(scheduledTasks.id, id));
  await h.pass(hour);
  expect(await h.runs(id)).toMatchObject([
    { status: "failed", error: "The schedule can't be read any more: set it anew" },
  ]);
  expect(await h.read(id)).toMatchObject({ enabled: true, nextRunAt: null });
});

test("a run without a reply from its model has failed", async () => {
  const h = await withTasks(() => ({ parts: [finish("stop")] }));
  const { id } = await h.create();
  await h.pass(hour);
  const [run] = await h.runs(id);
  expect(run).toMatchObject({ status: "failed", error: "The model said nothing" });
  expect(h.model.calls).toHaveLength(2);
});
