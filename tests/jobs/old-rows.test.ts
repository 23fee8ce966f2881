import { sql } from "drizzle-orm";
import { expect, onTestFinished, test } from "vitest";
import { throttles } from "../../src/db/schema.ts";
import { deleteOldRows } from "../../src/jobs/old-rows.ts";
import { TestClock } from "../clock.ts";
import { openTestDatabase } from "../database.ts";

const [minute, hour] = [60_000, 3_600_000];

/** A table with rows that ended a minute ago. */
async function withRows(count: number) {
  const { database, close } = await openTestDatabase();
  onTestFinished(close);
  const clock = new TestClock();
  const ended = new Date(clock.now() - minute).toISOString();
  const add = (rows: number, mark: string) =>
    database.db.execute(sql`
      insert into ${throttles} (key, count, resets_at)
      select ${mark}::text || n, 1, ${ended}::timestamptz from generate_series(1, ${rows}) n`);
  await add(count, "old");
  const left = () => database.db.$count(throttles);
  return { database, clock, add, left };
}

const table = { table: throttles, since: throttles.resetsAt };

test("a call deletes a bounded number of old rows; while there are more, each next call does the same", async () => {
  const h = await withRows(10_005);
  const [deleteOld = async () => {}] = deleteOldRows(h, [{ ...table, afterMs: 0 }]);
  await deleteOld();
  expect(await h.left()).toBe(5);
  await deleteOld();
  expect(await h.left()).toBe(0);
  await h.add(3, "later");
  await deleteOld();
  expect(await h.left()).toBe(3);
  await h.clock.advance(hour);
  await deleteOld();
  expect(await h.left()).toBe(0);
});

test("rows stay that are too young, of another kind, or kept by a policy", async () => {
  const h = await withRows(3);
  let afterMs: number | null = null;
  const tables = [
    { ...table, afterMs: 2 * minute },
    { ...table, afterMs: 0, where: sql`${throttles.key} = 'old2'` },
    { ...table, afterMs: () => afterMs },
  ];
  const all = deleteOldRows(h, tables);
  for (const deleteOld of all) await deleteOld();
  expect((await h.database.db.select().from(throttles)).map(({ key }) => key).sort()).toEqual(["old1", "old3"]);
  afterMs = 0;
  for (const deleteOld of all) await deleteOld();
  expect(await h.left()).toBe(0);
});
