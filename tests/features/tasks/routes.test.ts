import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { auditLogs, scheduledTasks, taskRuns } from "../../../src/db/schema.ts";
import { gate, reply } from "../../scripted-model.ts";
import { hour, hourly, minute, withTasks } from "./tasks.ts";

const bodyOf = async (response: Promise<Response> | Response) => {
  const { status } = await response;
  const { message } = (await (await response).json()) as { message: string };
  return { status, message };
};

describe("a task", () => {
  test("has the given values, and defaults for the rest", async () => {
    const h = await withTasks();
    const least = await h.create();
    expect(least).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: "Report",
      prompt: "Report now.",
      schedule: hourly,
      subject: "",
      subjectChannel: null,
      userName: null,
      enabled: true,
      deleteAfterRun: false,
      maxRetries: 3,
      onMissed: "run",
      outboundChannel: null,
      outboundTarget: null,
      source: "api",
      nextRunAt: "2026-01-01T01:00:00.000Z",
      lastRun: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    const all = {
      name: "Once",
      prompt: "Do it.",
      schedule: { type: "one-shot", runAt: "2026-03-01T10:00:00+01:00" },
      enabled: false,
      deleteAfterRun: true,
      maxRetries: 0,
      onMissed: "skip",
      outboundChannel: "telegram",
      outboundTarget: "4711",
    };
    const whole = await h.create(all);
    expect(whole).toEqual({
      ...least,
      ...all,
      id: whole.id,
      nextRunAt: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    expect(await h.list()).toEqual([least, whole]);
    expect(await h.read(whole.id)).toEqual(whole);
  });

  test("takes a time without seconds, and an offset without a colon", async () => {
    const h = await withTasks();
    const { schedule } = await h.create({ schedule: { type: "one-shot", runAt: "2026-03-01T10:00+0100" } });
    expect(schedule).toEqual({ type: "one-shot", runAt: "2026-03-01T10:00:00+01:00" });
  });

  test.each([
    ["an unknown kind", { schedule: { type: "daily" } }, "schedule"],
    ["a wrong hour", { schedule: { ...hourly, expression: "0 25 * * *" } }, "hour"],
    ["a time that never comes", { schedule: { ...hourly, expression: "0 0 30 2 *" } }, "no time of the next"],
    ["an unknown zone", { schedule: { ...hourly, timezone: "Europe/Atlantis" } }, "IANA"],
    ["half a minute", { schedule: { type: "interval", everyMs: 30_000 } }, "60000"],
    ["the past", { schedule: { type: "one-shot", runAt: "2025-12-31T23:59:59Z" } }, "future"],
    ["half a place", { outboundChannel: "telegram" }, "outboundTarget"],
    ["a place without a channel", { outboundTarget: "4711" }, "outboundChannel"],
    ["a blank prompt", { prompt: " \n" }, "prompt"],
    ["too many retries", { maxRetries: 11 }, "maxRetries"],
    ["NUL", { prompt: "a\u0000b" }, "NUL"],
  ])("with %s is refused", async (_what, json, word) => {
    const h = await withTasks();
    const refused = await bodyOf(h.call("POST", "", { name: "A", prompt: "B", schedule: hourly, ...json }));
    expect(refused).toEqual({ status: 400, message: expect.stringContaining(word) });
    const { id } = await h.create();
    expect((await bodyOf(h.call("PATCH", `/${id}`, json))).status).toBe(400);
  });

  test("is one of at most 100", async () => {
    const h = await withTasks();
    await Promise.all(Array.from({ length: 100 }, () => h.create()));
    expect(await bodyOf(h.call("POST", "", { name: "A", prompt: "B", schedule: hourly }))).toEqual({
      status: 409,
      message: "An agent has at most 100 scheduled tasks: delete one first",
    });
  });

  test("of 100 that the agent made for a past time is deleted for a new one, the oldest first, unless its run is under way", async () => {
    const h = await withTasks(() => ({ fail: new Error("Away") }));
    const once = { schedule: { type: "one-shot", runAt: "2026-01-01T00:30:00Z" }, deleteAfterRun: true, maxRetries: 0 };
    const first = await h.create({ ...once, name: "First" });
    const second = await h.create({ ...once, name: "Second" });
    const off = await h.create({ ...once, name: "Off", enabled: false });
    await h.db.update(scheduledTasks).set({ source: "agent" });
    await h.pass(hour);
    expect(await h.read(first.id)).toMatchObject({ nextRunAt: null, lastRun: { status: "failed" } });
    await Promise.all(Array.from({ length: 97 }, () => h.create()));
    await h.db.update(taskRuns).set({ status: "running" }).where(eq(taskRuns.taskId, first.id));
    await h.create({ name: "In the place of the second" });
    expect((await h.call("GET", `/${second.id}`)).status).toBe(404);
    const refused = () => h.call("POST", "", { name: "A", prompt: "B", schedule: hourly });
    expect((await refused()).status).toBe(409);
    await h.db.update(taskRuns).set({ status: "failed" }).where(eq(taskRuns.taskId, first.id));
    await h.create({ name: "In the place of the first" });
    expect((await refused()).status).toBe(409);
    const deleted = await h.db.select().from(auditLogs).where(eq(auditLogs.action, "agent.task.delete"));
    const summaries = deleted.map(({ summary }) => summary);
    expect(summaries).toHaveLength(2);
    for (const [{ id }, name] of [
      [first, "First"],
      [second, "Second"],
    ] as const) {
      expect(summaries).toContainEqual({ taskId: id, name });
    }
    expect(await h.read(off.id)).toMatchObject({ enabled: false });
  });

  test("of another user, or of another agent, is not found", async () => {
    const h = await withTasks();
    const { id } = await h.create();
    const other = await h.another();
    const path = (rest: string) => `/api/instances/${other.slug}/scheduled-tasks/${rest}`;
    for (const [method, rest] of [
      ["GET", id],
      ["PATCH", id],
      ["DELETE", id],
      ["POST", `${id}/run`],
      ["GET", `${id}/runs`],
    ] as const) {
      const json = method === "PATCH" ? { json: { name: "B" } } : {};
      expect((await h.request(path(rest), { method, headers: other.headers, ...json })).status).toBe(404);
    }
    expect((await h.call("GET", "/nothing")).status).toBe(404);
    expect(await h.list()).toHaveLength(1);
  });

  test("that is changed is due by its new schedule, from now on", async () => {
    const h = await withTasks();
    const { id } = await h.create({ schedule: { type: "interval", everyMs: hour } });
    await h.clock.jump(10 * minute);
    expect((await h.update(id, { name: "B", schedule: { type: "interval", everyMs: hour } })).nextRunAt).toBe(
      "2026-01-01T01:00:00.000Z",
    );
    expect((await h.update(id, { schedule: { type: "interval", everyMs: 2 * hour } })).nextRunAt).toBe(
      "2026-01-01T02:10:00.000Z",
    );
    expect((await h.update(id, { enabled: false })).nextRunAt).toBe(null);
    await h.clock.jump(3 * hour);
    expect((await h.update(id, { enabled: true })).nextRunAt).toBe("2026-01-01T04:10:00.000Z");
  });

  test("that was due once and has passed can't be turned on again", async () => {
    const h = await withTasks();
    const { id } = await h.create({ schedule: { type: "one-shot", runAt: "2026-01-01T01:00:00Z" } });
    await h.update(id, { enabled: false });
    await h.clock.jump(2 * hour);
    expect(await bodyOf(h.call("PATCH", `/${id}`, { enabled: true }))).toEqual({
      status: 400,
      message: "schedule.runAt: Set runAt to a time in the future",
    });
  });

  test("loses its destination by two nulls", async () => {
    const h = await withTasks();
    const { id } = await h.create({ outboundChannel: "slack", outboundTarget: "C1" });
    expect((await bodyOf(h.call("PATCH", `/${id}`, { outboundChannel: null }))).status).toBe(400);
    expect(await h.update(id, { outboundTarget: "C2" })).toMatchObject({
      outboundChannel: "slack",
      outboundTarget: "C2",
    });
    const none = { outboundChannel: null, outboundTarget: null };
    expect(await h.update(id, none)).toMatchObject(none);
  });

  test("leaves an entry of the audit log for every change, and none where nothing changed", async () => {
    const h = await withTasks();
    const { id } = await h.create();
    await h.update(id, { name: "Report" });
    await h.update(id, { maxRetries: 1 });
    await h.call("DELETE", `/${id}`);
    expect((await h.call("GET", `/${id}`)).status).toBe(404);
    const entries = await h.db.select().from(auditLogs).orderBy(auditLogs.createdAt);
    expect(
      entries.filter(({ action }) => action.startsWith("agent.task.")).map(({ action, summary }) => [action, summary]),
    ).toEqual([
      ["agent.task.create", { taskId: id, name: "Report", schedule: hourly }],
      ["agent.task.update", { taskId: id, changes: { maxRetries: { from: 3, to: 1 } } }],
      ["agent.task.delete", { taskId: id, name: "Report" }],
    ]);
  });
});

describe("running a task now", () => {
  test("answers the run, and refuses another one until it has ended", async () => {
    const held = gate();
    const h = await withTasks([{ opens: held.promise, ...reply("Done.") }]);
    const { id } = await h.create({ enabled: false });
    const runId = await h.runNow(id);
    expect(await bodyOf(h.call("POST", `/${id}/run`))).toEqual({
      status: 409,
      message: "A run of the task has not ended: wait for it, or decide about its approval",
    });
    expect(await h.runs(id)).toMatchObject([{ id: runId, triggerType: "manual" }]);
    held.open();
  });

  test("is refused while the agent is inactive", async () => {
    const h = await withTasks();
    const { id } = await h.create();
    await h.active(false);
    expect((await bodyOf(h.call("POST", `/${id}/run`))).status).toBe(409);
    expect(await h.runs(id)).toEqual([]);
  });
});
