import { expect, test, vi } from "vitest";
import { reply } from "../../scripted-model.ts";
import { minute, withTasks } from "./tasks.ts";

/** A harness, and a function that makes the next transaction wait this many milliseconds, as for a lock. */
async function waiting() {
  const h = await withTasks(() => reply("Done."));
  const { database } = h.services;
  const { transaction } = database;
  const wait = (ms: number) =>
    vi.spyOn(database, "transaction").mockImplementationOnce(async (work, ...more) => {
      await h.clock.jump(ms);
      return transaction(work, ...more);
    });
  const soon = () => ({ type: "one-shot", runAt: new Date(h.clock.now() + 2_000).toISOString() });
  return { ...h, wait, soon };
}

test("a task whose time comes while its request waits for the database runs at once", async () => {
  const h = await waiting();
  const schedule = h.soon();
  h.wait(3_000);
  const { id, nextRunAt } = await h.create({ schedule });
  expect(nextRunAt).toBe(schedule.runAt);
  await h.pass(0);
  expect(await h.runs(id)).toMatchObject([{ status: "completed", triggerType: "schedule", dueAt: schedule.runAt }]);
  expect(await h.read(id)).toMatchObject({ nextRunAt: null });
});

test("also one whose schedule is changed, and one that begins much later is late or missed as it says", async () => {
  const h = await waiting();
  const { id } = await h.create();
  const schedule = h.soon();
  h.wait(3_000);
  expect(await h.update(id, { schedule })).toMatchObject({ nextRunAt: schedule.runAt });
  await h.pass(0);
  expect(await h.runs(id)).toMatchObject([{ status: "completed", dueAt: schedule.runAt }]);
  for (const [onMissed, run] of [
    ["run", { status: "completed", triggerType: "missed" }],
    ["skip", { status: "missed", triggerType: "schedule" }],
  ] as const) {
    const late = h.soon();
    h.wait(5 * minute);
    const task = await h.create({ schedule: late, onMissed });
    await h.pass(0);
    expect(await h.runs(task.id)).toMatchObject([{ ...run, dueAt: late.runAt }]);
  }
});
