import { expect, test } from "vitest";
import { reply } from "../../scripted-model.ts";
import { runsOf2027, zones } from "./clocks.ts";
import { hour, withTasks } from "./tasks.ts";

/** 2027 begins on a Friday. */
const isSunday = (_: unknown, day: number) => day % 7 === 2;

test("a year of Sundays at 02:15 in three zones runs each once, on time, also where the clocks change", async () => {
  const h = await withTasks(() => reply("Done."));
  await h.clock.jump(Date.UTC(2026, 11, 31, 12) - h.clock.now());
  const made = await Promise.all(
    zones.map(({ name }) => h.create({ name, schedule: { type: "cron", expression: "15 2 * * 0", timezone: name } })),
  );
  // Runs are kept for 90 days only.
  const seen = new Map<string, Awaited<ReturnType<typeof h.rows>>[number]>();
  for (;;) {
    const soonest = Math.min(...(await h.list()).map(({ nextRunAt }) => Date.parse(nextRunAt ?? "")));
    if (soonest > Date.UTC(2027, 11, 31, 23)) break;
    await h.pass(soonest - h.clock.now());
    for (const row of await h.rows()) seen.set(row.id, row);
  }
  for (const [index, zone] of zones.entries()) {
    const runs = [...seen.values()].filter(({ taskId }) => taskId === made[index]?.id);
    const expected = runsOf2027(zone, [{ hour: 2, minute: 15 }], true).filter(isSunday);
    expect(runs.map(({ dueAt }) => dueAt.getTime())).toEqual(expected);
    for (const { status, triggerType, startedAt, dueAt } of runs) {
      expect([status, triggerType, startedAt]).toEqual(["completed", "schedule", dueAt]);
    }
    expect(runs).toHaveLength(52);
  }
}, 180_000);

test("a year without a server is one late run, 20 missed ones and a number", async () => {
  const h = await withTasks([reply("Late.")]);
  const { id } = await h.create({ schedule: { type: "interval", everyMs: hour } });
  await h.pass(365 * 24 * hour + 10 * 60_000);
  const runs = await h.runs(id);
  expect(runs.map(({ status }) => status)).toEqual(["completed", ...Array(20).fill("missed")]);
  expect(runs[0]).toMatchObject({ triggerType: "missed", output: "Late." });
  expect(runs.at(-1)).toMatchObject({ alsoMissed: 365 * 24 - 21 });
});
