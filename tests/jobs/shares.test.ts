import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { jobs } from "../../src/db/schema.ts";
import { jobHarness, stall } from "./jobs.ts";

const organization = (letter: string) => `${letter.repeat(8)}-0000-7000-8000-000000000000`;

type Enqueue = Awaited<ReturnType<typeof jobHarness>>["enqueue"];

/** Enqueues this many jobs of each of these organizations, one organization after the other. */
async function enqueueOf(enqueue: Enqueue, kind: string, counts: Readonly<Record<string, number>>): Promise<void> {
  for (const [letter, count] of Object.entries(counts)) {
    for (let n = 0; n < count; n += 1) await enqueue(kind, { letter }, { organizationId: organization(letter) });
  }
}

describe("a kind that stalls", () => {
  test("holds up no other one", async () => {
    const h = await jobHarness();
    const slow = stall();
    const done: unknown[] = [];
    const worker = h.worker({ slow: slow.run, quick: async ({ payload }) => void done.push(payload) });
    await enqueueOf(h.enqueue, "slow", { a: 10, b: 10 });
    await worker.tick();
    expect(slow.running()).toEqual(["a", "a", "a", "a", "b", "b", "b", "b"]);
    for (const n of [1, 2, 3, 4, 5, 6]) {
      await h.enqueue("quick", { n });
      worker.wake();
      await expect.poll(() => done).toHaveLength(n);
    }
    expect(slow.began).toHaveLength(8);
  });

  test("wakes no process for its own jobs while it has no slot for them", async () => {
    const h = await jobHarness();
    const slow = stall();
    const worker = h.worker({ slow: { run: slow.run, limit: 1 }, quick: async () => {} });
    await h.enqueue("slow");
    await worker.tick();
    await h.enqueue("slow", {}, { runAt: h.at(1_000) });
    await worker.tick();
    await h.clock.advance(2_000);
    expect(slow.began).toHaveLength(1);
    slow.end();
    await expect.poll(() => slow.began).toHaveLength(2);
  });
});

describe("the limit of a kind", () => {
  test("is for each process, over all organizations", async () => {
    const h = await jobHarness();
    const [here, there] = [stall(), stall()];
    await enqueueOf(h.enqueue, "slow", { a: 3, b: 3, c: 3 });
    await h.worker({ slow: { run: here.run, limit: 3 } }).tick();
    await h.worker({ slow: { run: there.run, limit: 2 } }).tick();
    expect([here.running(), there.running()]).toEqual([
      ["a", "b", "c"],
      ["a", "b"],
    ]);
  });

  test("may be one at a time; organizations then take turns", async () => {
    const h = await jobHarness();
    const order: unknown[] = [];
    const run = async ({ payload }: { payload: unknown }) => void order.push(payload);
    await enqueueOf(h.enqueue, "slow", { a: 4, b: 2, c: 1 });
    await h.worker({ slow: { run, limit: 1 } }).work();
    expect(order).toEqual(["a", "b", "c", "a", "b", "a", "a"].map((letter) => ({ letter })));
  });
});

describe("an organization", () => {
  test("with one due job is in the first round, however many another one has", async () => {
    const h = await jobHarness();
    const slow = stall();
    await enqueueOf(h.enqueue, "slow", { a: 500, b: 1 });
    await h.worker({ slow: slow.run }).tick();
    expect(slow.began.slice(0, 2)).toEqual(["a", "b"]);
    expect(slow.running()).toEqual(["a", "a", "a", "a", "b"]);
  });

  test("never holds all slots: a job that another one enqueues later begins at once", async () => {
    const h = await jobHarness();
    const slow = stall();
    const worker = h.worker({ slow: slow.run });
    await enqueueOf(h.enqueue, "slow", { b: 20 });
    await worker.tick();
    await worker.tick();
    expect(slow.running()).toEqual(["b", "b", "b", "b"]);
    await enqueueOf(h.enqueue, "slow", { a: 1, c: 1 });
    await worker.tick();
    expect(slow.running()).toEqual(["a", "b", "b", "b", "b", "c"]);
    slow.end("b");
    await expect.poll(() => slow.began).toHaveLength(7);
    expect(slow.running()).toEqual(["a", "b", "b", "b", "b", "c"]);
  });

  test("gets a second slot when each other one with due jobs has one", async () => {
    const h = await jobHarness();
    const slow = stall();
    const worker = h.worker({ slow: slow.run });
    await enqueueOf(h.enqueue, "slow", { a: 5, b: 5, c: 5, d: 5, e: 5, f: 5 });
    await worker.tick();
    expect(slow.began.slice(0, 6)).toEqual(["a", "b", "c", "d", "e", "f"]);
    expect(slow.running()).toHaveLength(8);
    // Slots that become free alternate, too.
    for (let n = 8; n < 14; n += 1) {
      slow.end();
      await expect.poll(() => slow.began.length).toBe(n + 1);
    }
    expect(slow.began.slice(8).toSorted()).toEqual(["a", "b", "c", "d", "e", "f"]);
  });

  test("is skipped while its jobs are due later, or wait for others of their keys", async () => {
    const h = await jobHarness();
    const slow = stall();
    const worker = h.worker({ slow: { run: slow.run, limit: 4 } });
    const later = { organizationId: organization("a"), runAt: h.at(10_000) };
    for (let n = 0; n < 10; n += 1) await h.enqueue("slow", { letter: "a" }, later);
    const keyed = { organizationId: organization("b"), key: "k" };
    await h.enqueue("slow", { letter: "b" }, keyed);
    await worker.tick();
    await h.enqueue("slow", { letter: "b" }, keyed);
    await enqueueOf(h.enqueue, "slow", { c: 1, d: 1 });
    await worker.tick();
    expect(slow.began).toEqual(["b", "c", "d"]);
    await h.clock.advance(10_000);
    await worker.tick();
    expect(slow.began).toEqual(["b", "c", "d", "a"]);
  });

  test("keeps to its share of a dead process's jobs, too", async () => {
    const h = await jobHarness();
    const [dead, slow] = [stall(), stall()];
    await enqueueOf(h.enqueue, "slow", { a: 6, b: 1 });
    await h.worker({ slow: { run: dead.run, limit: 6 } }).tick();
    expect(dead.running()).toEqual(["a", "a", "a", "b"]);
    await h.database.db
      .update(jobs)
      .set({ lockedUntil: new Date(0) })
      .where(eq(jobs.attempts, 1));

    const worker = h.worker({ slow: { run: slow.run, limit: 4 } });
    await worker.tick();
    const attempts = async () => (await h.rows()).map((row) => row.attempts);
    expect([slow.running(), await attempts()]).toEqual([
      ["a", "a", "b"],
      [2, 2, 1, 0, 0, 0, 2],
    ]);
    slow.end("a");
    await expect.poll(() => slow.running()).toEqual(["a", "a", "b"]);
    expect(await attempts()).toEqual([2, 2, 0, 0, 0, 2]);
  });
});

test("jobs without an organization take turns as if they had one of their own", async () => {
  const h = await jobHarness();
  const order: unknown[] = [];
  const run = async ({ payload }: { payload: unknown }) => void order.push(payload);
  for (let n = 0; n < 4; n += 1) await h.enqueue("slow", {});
  await enqueueOf(h.enqueue, "slow", { a: 2 });
  await h.worker({ slow: { run, limit: 1 } }).work();
  expect(order).toEqual([{ letter: "a" }, {}, { letter: "a" }, {}, {}, {}]);
});
