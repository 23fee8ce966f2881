import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import { jobs, taskRuns, turns } from "../../../src/db/schema.ts";
import { gate, reply } from "../../scripted-model.ts";
import { hour, minute, withTasks } from "./tasks.ts";

const day = 24 * hour;

test("runs are kept for 90 days, and each task's last one as long as the task", async () => {
  const h = await withTasks(() => reply("Done."));
  const { id } = await h.create({ schedule: { type: "interval", everyMs: day } });
  const once = await h.create({ schedule: { type: "one-shot", runAt: "2026-01-02T00:00:00Z" } });
  for (let n = 0; n < 3; n += 1) await h.pass(day);
  await h.update(id, { enabled: false });
  expect(await h.rows()).toHaveLength(4);
  await h.pass(87 * day + 2 * hour);
  expect((await h.runs(id)).map(({ dueAt }) => dueAt.slice(0, 10))).toEqual(["2026-01-04", "2026-01-03", "2026-01-02"]);
  await h.pass(day);
  await h.pass(2 * day);
  expect((await h.runs(id)).map(({ dueAt }) => dueAt.slice(0, 10))).toEqual(["2026-01-04"]);
  expect(await h.runs(once.id)).toHaveLength(1);
});

test("a run whose job failed for good has failed, and the task continues", async () => {
  const h = await withTasks();
  const { id } = await h.create();
  await h.engine.stop(0);
  const runId = await h.runNow(id);
  await h.db
    .update(jobs)
    .set({ status: "failed", failedAt: new Date(h.clock.now()) })
    .where(eq(jobs.key, runId));
  const other = h.replica();
  await h.clock.jump(minute);
  await other.tick();
  expect(await h.runs(id)).toMatchObject([
    { status: "failed", error: "It could not be run: the server's log says why", completedAt: expect.any(String) },
  ]);
  await other.stop(0);
});

test("a run that was done, but not noted, is found in its conversation: it is not run again", async () => {
  const held = gate();
  const h = await withTasks([{ opens: held.promise, ...reply("Done.") }]);
  const { id } = await h.create();
  const runId = await h.runNow(id);
  await h.model.called(1);
  held.open();
  await h.rested();
  // The state left by a process that dies between the turn and the end of its run.
  const unnoted = { status: "running", completedAt: null, output: null } as const;
  await h.db.update(taskRuns).set(unnoted).where(eq(taskRuns.id, runId));
  const job = { id: newId(), kind: "task.run", key: runId, payload: { runId }, runAt: new Date(0), attempts: 1 };
  await h.db.insert(jobs).values({ ...job, maxAttempts: 10 });
  await h.pass(0);
  expect(await h.runs(id)).toMatchObject([{ status: "completed", output: "Done." }]);
  expect(h.model.calls).toHaveLength(1);
  expect(await h.db.select().from(turns)).toHaveLength(1);
});
