import { sql } from "drizzle-orm";
import fc from "fast-check";
import { expect, test } from "vitest";
import { bucketOf, middleOf, percentile } from "../../../src/features/analytics/sums.ts";
import { harness } from "../../harness.ts";

test("the middle of the bucket that the database finds is within 5 % of the time", async () => {
  const { db } = (await harness()).services.database;
  const rows = await db.execute<{ ms: number; bucket: number | null }>(sql`
    select ms, ${bucketOf(sql`ms`)} as bucket
    from (select n * (1 + n / 50) as ms from generate_series(0, 8000) n union all select null) times`);
  expect(rows).toHaveLength(8002);
  for (const { ms, bucket } of rows) {
    if (ms === null) expect(bucket).toBeNull();
    else expect(Math.abs(middleOf(bucket ?? Number.NaN) - ms)).toBeLessThanOrEqual(ms * 0.05 + 0.5);
  }
});

const bucketFor = (ms: number) => Math.floor(Math.log(ms) / Math.log(1.1));

test("a percentile is within 5 % of the time that has this rank", () => {
  const times = fc.array(fc.integer({ min: 1, max: 3_600_000 }), { minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(times, fc.constantFrom(0.5, 0.95, 0.99), (all, share) => {
      const exact = [...all].sort((a, b) => a - b)[Math.ceil(all.length * share) - 1] ?? 0;
      const found = percentile(
        all.map((ms) => ({ bucket: bucketFor(ms), count: 1 })),
        share,
      );
      return found !== null && Math.abs(found - exact) <= exact * 0.05 + 0.5;
    }),
  );
});

test("nothing has no percentile, and one time is all of them", () => {
  expect(percentile([], 0.5)).toBeNull();
  expect([0, 0.5, 1].map((share) => percentile([{ bucket: -1, count: 3 }], share))).toEqual([0, 0, 0]);
});
