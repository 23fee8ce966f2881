import { describe, expect, test } from "vitest";
import { jobs } from "../../src/db/schema.ts";
import type { JobHandler } from "../../src/jobs/attempt.ts";
import { Postponed } from "../../src/jobs/postponed.ts";
import { jobHarness } from "./jobs.ts";

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);

describe("many jobs", () => {
  test("are claimed, done and settled by few statements", async () => {
    const h = await jobHarness();
    for (const n of numbers(300)) await h.enqueue("count", { n }, { key: String(n) });
    let statements = 0;
    const query = h.database.query.bind(h.database);
    h.database.query = (text, parameters) => {
      statements += 1;
      return query(text, parameters) as Promise<never>;
    };
    const done = new Set<unknown>();
    const worker = h.worker({
      count: { limit: 256, run: async ({ payload }) => void done.add(JSON.stringify(payload)) },
    });
    await worker.work();
    expect([done.size, await h.rows(), h.lines]).toEqual([300, [], []]);
    // A claim and a settlement for each 32, and some for fewer at the end.
    expect(statements).toBeLessThan(60);
  });

  test("of which some fail: those are retried, each by itself, and a newer one of its key replaces a job", async () => {
    const h = await jobHarness();
    const run: JobHandler = async ({ payload }) => {
      const { n } = payload as { n: number };
      if (n === 3) await h.enqueue("count", { n: 30 }, { key: "3", runAt: h.at(60_000) });
      if (n % 3 === 0) throw new Error(`no luck ${n}`);
    };
    for (const n of numbers(12)) await h.enqueue("count", { n }, { key: String(n) });
    await h.worker({ count: { limit: 64, run } }).work();
    const left = (await h.rows()).map(({ payload, attempts, lastError, lockedBy }) => [
      payload,
      attempts,
      lastError,
      lockedBy,
    ]);
    expect(left).toHaveLength(4);
    expect(left).toEqual(
      expect.arrayContaining([
        [{ n: 0 }, 1, "no luck 0", null],
        [{ n: 30 }, 0, null, null],
        [{ n: 6 }, 1, "no luck 6", null],
        [{ n: 9 }, 1, "no luck 9", null],
      ]),
    );
  });

  test("of which another process claimed one: the others are done, and that one is left to it", async () => {
    const h = await jobHarness();
    const other = "00000000-0000-7000-8000-00000000000f";
    const taken = Promise.withResolvers<void>();
    const worker = h.worker({
      count: {
        limit: 64,
        run: async ({ payload }) => {
          // The others end only then: ended jobs can't be claimed by another process.
          if ((payload as { n: number }).n > 0) return taken.promise;
          await h.database.query("update jobs set locked_by = $1::uuid where payload ->> 'n' = '5'", [other]);
          taken.resolve();
        },
      },
    });
    for (const n of numbers(10)) await h.enqueue("count", { n });
    await worker.work();
    expect(await h.rows()).toMatchObject([{ payload: { n: 5 }, lockedBy: other, attempts: 1 }]);
    expect(h.lines).toMatchObject([{ level: "warn", message: "A job was taken over before it ended" }]);
  });
});

test("a job that is postponed returns at its time, as often as needed, and no attempt counts", async () => {
  const h = await jobHarness();
  let tries = 0;
  const worker = h.worker({
    count: async () => {
      tries += 1;
      if (tries <= 20) throw new Postponed("Later", h.clock.now() + 60_000);
    },
  });
  await h.enqueue("count", {}, { maxAttempts: 2 });
  for (let minute = 1; minute <= 20; minute += 1) {
    await worker.work();
    expect(tries).toBe(minute);
    expect(await h.database.db.select({ attempts: jobs.attempts, error: jobs.lastError }).from(jobs)).toEqual([
      { attempts: 0, error: "Later" },
    ]);
    await h.clock.advance(59_999);
    await worker.work();
    expect(tries).toBe(minute);
    await h.clock.advance(1);
  }
  await worker.work();
  expect([tries, await h.rows(), h.lines]).toEqual([21, [], []]);
});
