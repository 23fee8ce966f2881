import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { newId } from "../../src/core/ids.ts";
import { jobs } from "../../src/db/schema.ts";
import type { Job } from "../../src/jobs/attempt.ts";
import { enqueue } from "../../src/jobs/enqueue.ts";
import { inspectJobs } from "../../src/jobs/failed.ts";
import { leaseMs } from "../../src/jobs/heartbeat.ts";
import type { Worker } from "../../src/jobs/worker.ts";
import { beatMs, gate, jobHarness, newJob } from "./jobs.ts";

const minute = 60_000;

describe("work", () => {
  test("is done once, in the order it was added, with its payload, and leaves nothing behind", async () => {
    const h = await jobHarness();
    for (const n of [1, 2, 3, 4, 5, 6]) await h.enqueue("count", { n, odd: "a\u0000b\ud800" });
    const done: unknown[] = [];
    const worker = h.worker({ count: async ({ payload, attempt }) => void done.push([payload, attempt]) });
    await worker.work();
    expect(done).toEqual([1, 2, 3, 4, 5, 6].map((n) => [{ n, odd: "ab\ufffd" }, 1]));
    expect(await h.rows()).toEqual([]);
    await worker.work();
    expect(done).toHaveLength(6);
    expect(h.lines).toEqual([]);
  });

  test("is not there before its transaction is committed, nor after that failed", async () => {
    const h = await jobHarness();
    const failing = h.database.transaction(async (tx) => {
      await enqueue(tx, newJob("count"));
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    expect(await h.rows()).toEqual([]);
    await h.database.transaction((tx) => enqueue(tx, newJob("count")));
    expect(await h.rows()).toMatchObject([{ kind: "count", status: "pending", attempts: 0, maxAttempts: 10 }]);
  });

  test("of an unknown kind is left to other processes", async () => {
    const h = await jobHarness();
    await h.enqueue("newer");
    const worker = h.worker({ count: async () => {} });
    await worker.work();
    await h.worker({}).work();
    expect(await h.rows()).toMatchObject([{ kind: "newer", attempts: 0, lockedBy: null }]);
  });

  test("waits for its time: a wake finds it to the moment when that is near, a tick when it is far", async () => {
    const h = await jobHarness();
    const done: unknown[] = [];
    const worker = h.worker({ count: async ({ payload }) => void done.push(payload) });
    await h.enqueue("count", { n: 1 }, { runAt: h.at(3_000) });
    await h.enqueue("count", { n: 2 }, { runAt: h.at(minute) });
    await worker.work();
    await h.clock.advance(2_999);
    await worker.work();
    expect(done).toEqual([]);
    await h.clock.advance(1);
    await expect.poll(() => done).toEqual([{ n: 1 }]);
    await worker.work();
    await h.clock.advance(minute);
    expect(done).toEqual([{ n: 1 }]);
    await worker.tick();
    await expect.poll(() => done).toEqual([{ n: 1 }, { n: 2 }]);
  });

  test("begins at a wake, without anybody waiting for it", async () => {
    const h = await jobHarness();
    const { handler, begun } = gate();
    const worker = h.worker({ count: handler });
    await h.enqueue("count");
    worker.wake();
    await begun;
  });

  test("runs at most four at a time, and the next as soon as one ends", async () => {
    const h = await jobHarness();
    const open: (() => void)[] = [];
    const worker = h.worker({ count: () => new Promise((resolve) => void open.push(resolve)) });
    for (let n = 0; n < 6; n += 1) await h.enqueue("count");
    await worker.tick();
    expect(open).toHaveLength(4);
    await worker.tick();
    expect(open).toHaveLength(4);
    open[0]?.();
    await expect.poll(() => open.length).toBe(5);
    for (let n = 1; n < 6; n += 1) {
      await expect.poll(() => open.length).toBeGreaterThan(n);
      open[n]?.();
    }
    await worker.work();
    expect(await h.rows()).toEqual([]);
  });
});

describe("a key", () => {
  test("joins many jobs into one: the last payload, at the last time", async () => {
    const h = await jobHarness();
    const done: unknown[] = [];
    const worker = h.worker({ count: async ({ payload }) => void done.push(payload) });
    for (const n of [1, 2, 3]) {
      await h.enqueue("count", { n }, { key: "a", runAt: h.at(2_000) });
      await h.clock.advance(1_500);
      await worker.work();
    }
    await h.enqueue("count", { n: 9 }, { key: "b" });
    await h.enqueue("other", { n: 9 }, { key: "a" });
    await worker.work();
    expect(done).toEqual([{ n: 9 }]);
    await h.clock.advance(500);
    await worker.work();
    expect(done).toEqual([{ n: 9 }, { n: 3 }]);
    expect((await h.rows()).map(({ kind }) => kind)).toEqual(["other"]);
  });

  test("never runs twice at a time; a job added meanwhile runs afterwards", async () => {
    const h = await jobHarness();
    const [first, seen] = [gate(), [] as unknown[]];
    const worker = h.worker({
      count: async ({ payload }) => {
        seen.push(payload);
        if (seen.length === 1) await first.handler();
      },
    });
    await h.enqueue("count", { n: 1 }, { key: "a" });
    await worker.tick();
    await first.begun;
    await h.enqueue("count", { n: 2 }, { key: "a" });
    await h.enqueue("count", { n: 3 }, { key: "a" });
    await worker.tick();
    await h.worker({ count: async () => void seen.push("elsewhere") }).tick();
    expect(seen).toEqual([{ n: 1 }]);
    first.open();
    await worker.work();
    expect(seen).toEqual([{ n: 1 }, { n: 3 }]);
  });

  test("of work that is to be retried and was enqueued anew: only the newer one is done", async () => {
    const h = await jobHarness();
    const attempts: Job[] = [];
    const worker = h.worker({
      count: async (job) => {
        attempts.push(job);
        if (attempts.length > 1) return;
        await h.enqueue("count", { n: 2 }, { key: "a", runAt: h.at(minute) });
        throw new Error("not now");
      },
    });
    await h.enqueue("count", { n: 1 }, { key: "a" });
    await worker.work();
    expect(await h.rows()).toMatchObject([{ payload: { n: 2 }, attempts: 0, lastError: null }]);
    await h.clock.jump(minute);
    await worker.work();
    expect(attempts).toMatchObject([
      { payload: { n: 1 }, attempt: 1 },
      { payload: { n: 2 }, attempt: 1 },
    ]);
  });

  test("enqueued while it waits for its next try begins anew", async () => {
    const h = await jobHarness();
    const tried: Job[] = [];
    const worker = h.worker({
      count: async (job) => {
        tried.push(job);
        if (tried.length < 2) throw new Error("not now");
      },
    });
    await h.enqueue("count", { n: 1 }, { key: "a" });
    await worker.work();
    await h.enqueue("count", { n: 2 }, { key: "a" });
    await worker.work();
    expect(tried).toMatchObject([{ attempt: 1 }, { attempt: 1, payload: { n: 2 } }]);
    expect(await h.rows()).toEqual([]);
  });
});

describe("failing work", () => {
  test("is retried later and later, until it goes well", async () => {
    const h = await jobHarness();
    let tries = 0;
    const worker = h.worker({
      count: async () => {
        tries += 1;
        if (tries < 3) throw new Error(`no luck ${tries}`);
      },
    });
    await h.enqueue("count", {}, { key: "agent:whatsapp:+4915112345" });
    await worker.work();
    expect(await h.rows()).toMatchObject([{ status: "pending", attempts: 1, lastError: "no luck 1", lockedBy: null }]);
    // Without the person to whom it sends.
    expect(h.lines).toMatchObject([{ level: "warn", kind: "count", of: "agent:whatsapp", attempts: 1 }]);
    await h.clock.advance(2_499);
    await worker.work();
    expect(tries).toBe(1);
    await h.clock.advance(2_501);
    await worker.work();
    expect(tries).toBe(2);
    await h.clock.advance(4_999);
    await worker.work();
    expect(tries).toBe(2);
    await h.clock.advance(5_001);
    await worker.work();
    expect([tries, await h.rows()]).toEqual([3, []]);
  });

  test("is given up in the end, logged once as an error, shown, and deleted after 30 days", async () => {
    const h = await jobHarness();
    let tries = 0;
    const worker = h.worker({
      count: async () => {
        tries += 1;
        throw new Error("x".repeat(2_000));
      },
    });
    await h.enqueue("count", { n: 1 }, { key: "k", maxAttempts: 3 });
    for (let minutes = 0; minutes < 60; minutes += 1) {
      await worker.work();
      await h.clock.jump(minute);
    }
    expect(tries).toBe(3);
    expect(h.lines.filter(({ level }) => level === "error")).toMatchObject([
      { message: "A job failed for good", kind: "count", of: "k", attempts: 3 },
    ]);
    const { pending, failed, failedLately, newest } = await inspectJobs(h.database, h.clock.now());
    expect([pending, failed, failedLately]).toEqual([0, 1, 1]);
    expect(newest).toMatchObject([{ kind: "count", key: "k", attempts: 3, error: "x".repeat(500) }]);
    expect(newest[0]?.failedAt).toMatch(/^2026-01-01T00:0\d:\d\d\.\d{3}Z$/);

    // The key is free for new work.
    await h.enqueue("count", { n: 2 }, { key: "k", runAt: h.at(minute) });
    const nextDay = h.clock.now() + 24 * 60 * minute;
    expect(await inspectJobs(h.database, nextDay)).toMatchObject({ pending: 1, failed: 1, failedLately: 0 });
    await worker.tick();
    expect((await inspectJobs(h.database, h.clock.now())).failed).toBe(1);
    await h.database.db.delete(jobs).where(eq(jobs.status, "pending"));
    await h.clock.jump(30 * 24 * 60 * minute);
    await worker.tick();
    expect(await h.rows()).toEqual([]);
  });

  test("a handler that throws at once, or something that is no error, fails like any other", async () => {
    const h = await jobHarness();
    const worker = h.worker({
      a: () => {
        throw new Error("at once");
      },
      b: () => Promise.reject("a text\u0000"),
    });
    await h.enqueue("a");
    await h.enqueue("b");
    await worker.work();
    expect((await h.rows()).map(({ lastError }) => lastError)).toEqual(["at once", "a text"]);
  });

  test("a handler that hangs is aborted after 10 minutes, and its slot is free", async () => {
    const h = await jobHarness();
    let signal: AbortSignal | undefined;
    const worker = h.worker({
      hang: (_job, given) => {
        signal = given;
        return new Promise(() => {});
      },
    });
    await h.enqueue("hang");
    await worker.tick();
    await h.clock.advance(10 * minute - 1);
    expect(signal?.aborted).toBe(false);
    await h.clock.advance(1);
    expect(signal?.aborted).toBe(true);
    await worker.work();
    expect(await h.rows()).toMatchObject([
      { status: "pending", lockedBy: null, lastError: "It took longer than 10 minutes" },
    ]);
  });
});

describe("a process that dies", () => {
  /** A clock whose timers never fire, as in a process that hangs. */
  const stuck = (now: () => number) => ({ now, after: () => () => {} });

  test("leaves its work to others once its lease is over; its later writes no longer count", async () => {
    const h = await jobHarness();
    const [dead, rescue] = [gate(), gate()];
    await h.enqueue("count", {}, { key: "k" });
    const first = h.worker(
      { count: dead.handler },
      stuck(() => h.clock.now()),
    );
    await first.tick();
    await dead.begun;
    const second = h.worker({ count: rescue.handler });
    await h.age(15_000);
    await second.tick();
    expect(rescue.count()).toBe(0);
    await h.age(15_000);
    await second.tick();
    await rescue.begun;
    expect(await h.rows()).toMatchObject([{ attempts: 2 }]);

    // The first one resumes and believes that it is done.
    dead.open();
    await first.work();
    expect(await h.rows()).toMatchObject([{ attempts: 2, status: "pending" }]);
    expect(h.lines).toMatchObject([{ level: "warn", message: "A job was taken over before it ended" }]);
    rescue.open();
    await second.work();
    expect(await h.rows()).toEqual([]);
  });

  test("of one job again and again makes that one fail for good", async () => {
    const h = await jobHarness();
    await h.enqueue("count", {}, { maxAttempts: 2 });
    const hanging = { count: () => new Promise<void>(() => {}) };
    for (let process = 0; process < 3; process += 1) {
      await h
        .worker(
          hanging,
          stuck(() => h.clock.now()),
        )
        .tick();
      await h.age(31_000);
    }
    expect(await h.rows()).toMatchObject([
      { status: "failed", attempts: 2, lastError: "The process ended while it ran this job", lockedBy: null },
    ]);
    expect(h.lines).toMatchObject([{ level: "error", message: "A job failed for good", attempts: 2 }]);
  });

  test("and so fails its job for good leaves the key to a later job", async () => {
    const h = await jobHarness();
    await h.enqueue("count", { n: 1 }, { key: "k", maxAttempts: 1 });
    const hanging = { count: () => new Promise<void>(() => {}) };
    await h
      .worker(
        hanging,
        stuck(() => h.clock.now()),
      )
      .tick();
    await h.enqueue("count", { n: 2 }, { key: "k" });
    await h.age(31_000);
    const done: unknown[] = [];
    await h.worker({ count: async ({ payload }) => void done.push(payload) }).work();
    expect(done).toEqual([{ n: 2 }]);
  });

  test("is not one that is slow: its lease is renewed as long as the handler runs", async () => {
    const h = await jobHarness();
    const { handler, begun, open } = gate();
    const elsewhere = gate();
    const slow = h.worker({ count: handler });
    await h.enqueue("count");
    await slow.tick();
    await begun;
    for (let passed = 0; passed < 120_000; passed += beatMs) {
      await h.age(beatMs);
      await h.beat();
      expect((await h.left())[0]).toBeGreaterThan(25_000);
      await h.worker({ count: elsewhere.handler }).tick();
    }
    open();
    await slow.work();
    expect([elsewhere.count(), await h.rows(), h.lines]).toEqual([0, [], []]);
  });

  test("a process that lost its lease is told by the signal, and ends nothing", async () => {
    const h = await jobHarness();
    const reasons: unknown[] = [];
    const told = Promise.withResolvers<void>();
    const worker = h.worker({
      count: (_job, signal) =>
        new Promise(() => {
          signal.addEventListener("abort", () => {
            reasons.push(signal.reason);
            told.resolve();
          });
        }),
    });
    await h.enqueue("count");
    await worker.tick();
    const other = newId();
    await h.database.db.update(jobs).set({ lockedBy: other });
    await h.clock.advance(5_000);
    await told.promise;
    await worker.work();
    expect(reasons).toMatchObject([{ message: "The job was taken over" }]);
    expect(await h.rows()).toMatchObject([{ lockedBy: other, attempts: 1, lastError: null }]);
  });
});

describe("an outage of the database that outlasts the leases", () => {
  async function outage() {
    const h = await jobHarness();
    const query = h.database.query.bind(h.database);
    let away = false;
    const reached: typeof query = async (text, parameters) => {
      if (away) throw new Error("The database is away");
      return query(text, parameters);
    };
    Object.assign(h.database, { query: reached });
    const age = (ms: number) => query("update jobs set locked_until = locked_until - $1::int * interval '1 ms'", [ms]);
    /** Makes the database unavailable for longer than a lease, while these workers retry. */
    const pass = async (...workers: Worker[]) => {
      away = true;
      for (let passed = 0; passed <= leaseMs; passed += 10_000) {
        await h.beat(2);
        await age(10_000);
        for (const worker of workers) await expect(worker.tick()).rejects.toThrow("The database is away");
      }
      away = false;
    };
    return { ...h, pass };
  }

  test.each([
    1, 10,
  ])("has no worker begin its own work a second time, nor give it up (attempts: %i)", async (attempts) => {
    const h = await outage();
    const held = gate();
    const worker = h.worker({ count: held.handler });
    await h.enqueue("count", {}, { maxAttempts: attempts });
    await worker.tick();
    await held.begun;
    await h.pass(worker);
    await worker.tick();
    await h.beat(2);
    expect([held.count(), await h.rows()]).toMatchObject([1, [{ attempts: 1, status: "pending" }]]);
    held.open();
    await worker.work();
    expect([held.count(), await h.rows()]).toEqual([1, []]);
  });

  test("leaves others no more than that when the time is set back meanwhile", async () => {
    const h = await outage();
    const [dead, rescue] = [gate(), gate()];
    const stuckWorker = h.worker({ left: dead.handler }, { now: () => h.clock.now(), after: () => () => {} });
    const second = h.worker({ left: rescue.handler });
    await h.enqueue("left");
    await stuckWorker.tick();
    await dead.begun;
    await h.pass(second);
    await second.tick();
    const day = 24 * 60 * 60_000;
    h.clock.setBack(day);
    await h.beat(leaseMs / beatMs + 1);
    await second.tick();
    await rescue.begun;
    for (const { open } of [dead, rescue]) open();
    for (const worker of [stuckWorker, second]) await worker.work();
  });

  test("leaves others a lease's time to renew theirs; jobs not renewed then are claimed", async () => {
    const h = await outage();
    const [dead, living, rescue] = [gate(), gate(), gate()];
    const stuckWorker = h.worker({ left: dead.handler }, { now: () => h.clock.now(), after: () => () => {} });
    const first = h.worker({ kept: living.handler });
    const second = h.worker({ kept: rescue.handler, left: rescue.handler });
    for (const kind of ["left", "kept"]) await h.enqueue(kind);
    for (const worker of [stuckWorker, first]) await worker.tick();
    await Promise.all([dead.begun, living.begun]);
    await h.pass(second);
    await second.tick();
    expect(rescue.count()).toBe(0);
    for (let passed = 0; passed <= leaseMs; passed += beatMs) {
      await h.beat();
      expect((await h.left())[0]).toBeGreaterThan(25_000);
      await h.age(beatMs);
    }
    await second.tick();
    await rescue.begun;
    expect((await h.rows()).map(({ kind, attempts }) => [kind, attempts]).toSorted()).toEqual([
      ["kept", 1],
      ["left", 2],
    ]);
    for (const { open } of [dead, living, rescue]) open();
    for (const worker of [stuckWorker, first, second]) await worker.work();
  });
});

describe("a stop", () => {
  test("waits for running jobs, and begins no more", async () => {
    const h = await jobHarness();
    const { handler, begun, open, count } = gate();
    const worker = h.worker({ count: handler });
    await h.enqueue("count");
    await worker.tick();
    await begun;
    const stopped = worker.stop(30_000);
    await h.enqueue("count");
    worker.wake();
    await worker.tick();
    open();
    await stopped;
    expect(count()).toBe(1);
    expect(await h.rows()).toMatchObject([{ attempts: 0, lockedBy: null }]);
  });

  test("frees jobs that outlast its grace, as if they had not begun", async () => {
    const h = await jobHarness();
    const signals: AbortSignal[] = [];
    const worker = h.worker({
      count: (_job, signal) => {
        signals.push(signal);
        return new Promise(() => {});
      },
    });
    await h.enqueue("count", { n: 1 }, { key: "a" });
    await h.enqueue("count", { n: 1 });
    await worker.tick();
    await h.enqueue("count", { n: 2 }, { key: "a" });
    const stopped = worker.stop(30_000);
    await h.clock.advance(29_999);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
    await h.clock.advance(1);
    await stopped;
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
    const rows = await h.rows();
    expect(rows.map(({ payload, attempts, lockedBy }) => ({ payload, attempts, lockedBy }))).toEqual([
      { payload: { n: 1 }, attempts: 0, lockedBy: null },
      // It replaces the running one, which does its work.
      { payload: { n: 2 }, attempts: 0, lockedBy: null },
    ]);
    const next: unknown[] = [];
    await h.worker({ count: async ({ payload, attempt }) => void next.push([payload, attempt]) }).work();
    expect(next).toEqual([
      [{ n: 1 }, 1],
      [{ n: 2 }, 1],
    ]);
  });
});
