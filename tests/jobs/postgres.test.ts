import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { systemClock } from "../../src/adapters/node/clock.ts";
import { readMigrations } from "../../src/adapters/node/shipped.ts";
import { postgresNotify } from "../../src/adapters/notify/postgres.ts";
import { newId } from "../../src/core/ids.ts";
import { type Database, type Queries, queriesOf } from "../../src/db/client.ts";
import { migrate } from "../../src/db/migrate.ts";
import { commonLane } from "../../src/db/tables/work.ts";
import { claim, type InLane, isAnyLeft } from "../../src/jobs/claim.ts";
import { collectLog } from "../embedded.ts";
import { freshDatabase, poolOn } from "../fresh-database.ts";
import { explaining, sum } from "../plan.ts";
import { startPostgres } from "../real-postgres.ts";
import { follow } from "../runtime/program.ts";
import { gate, jobHarness, stall } from "./jobs.ts";

vi.setConfig({ testTimeout: 60_000 });

/** One session, as the embedded database has, can't prove the behaviour of several processes. */
const server = await startPostgres();
afterAll(() => server?.stop());

async function twoPools(): Promise<{ url: string; pools: [Database, Database] }> {
  const url = await freshDatabase(server);
  return { url, pools: [poolOn({ url }), poolOn({ url })] };
}

describe.skipIf(!server)("several processes", () => {
  test("do each job once, and of each key one at a time", async () => {
    const { pools } = await twoPools();
    const [one, two] = [await jobHarness(pools[0]), await jobHarness(pools[1])];
    const done: string[] = [];
    const busy = new Set<string>();
    const handlers = (name: string) => ({
      count: async ({ id, payload }: { id: string; payload: unknown }) => {
        const { key } = payload as { key: string };
        expect(busy.has(key)).toBe(false);
        busy.add(key);
        await pools[0].query("select pg_sleep(0.002)", []);
        busy.delete(key);
        done.push(`${name} ${id}`);
      },
    });
    const workers = [one.worker(handlers("one")), two.worker(handlers("two"))];
    for (let n = 0; n < 150; n += 1) await one.enqueue("count", { key: `free-${n}` });
    const keyed = async () => {
      for (let n = 0; n < 150; n += 1) await two.enqueue("count", { key: `key-${n % 3}` }, { key: `key-${n % 3}` });
    };
    await Promise.all([...workers.map((worker) => worker.work()), keyed()]);
    await Promise.all(workers.map((worker) => worker.work()));
    expect(await one.rows()).toEqual([]);
    expect(new Set(done.map((line) => line.split(" ")[1])).size).toBe(done.length);
    expect(done.length).toBeGreaterThanOrEqual(153);
    for (const name of ["one", "two"]) expect(done.some((line) => line.startsWith(name))).toBe(true);
    expect([...one.lines, ...two.lines]).toEqual([]);
  });

  test("keep to the limits of each, and to the shares of organizations", async () => {
    const { pools } = await twoPools();
    const [one, two] = [await jobHarness(pools[0]), await jobHarness(pools[1])];
    const done: string[] = [];
    const watched = () => {
      const running: string[] = [];
      const run = async ({ id, payload }: { id: string; payload: unknown }) => {
        const { of } = payload as { of: string };
        running.push(of);
        expect(running.length).toBeLessThanOrEqual(4);
        expect(running.filter((other) => other === of).length).toBeLessThanOrEqual(2);
        await pools[0].query("select 1", []);
        running.splice(running.indexOf(of), 1);
        done.push(id);
      };
      return { count: { run, limit: 4 } };
    };
    const organizations = [newId(), newId(), newId()];
    for (let n = 0; n < 120; n += 1) {
      const organizationId = organizations[n % 3] ?? "";
      await one.enqueue("count", { of: organizationId }, { organizationId });
    }
    await Promise.all([one.worker(watched()).work(), two.worker(watched()).work()]);
    expect([done.length, new Set(done).size, await one.rows()]).toEqual([120, 120, []]);
    expect([...one.lines, ...two.lines]).toEqual([]);
  });

  test("begin what another one has no slots for, woken by LISTEN and NOTIFY", async () => {
    const { url, pools } = await twoPools();
    const replica = async (database: Database) => {
      const { log, lines } = collectLog();
      const notify = postgresNotify({ target: { url }, database, clock: systemClock, log });
      onTestFinished(() => notify.close());
      await new Promise<void>((resolve) => notify.listen("work-due", () => {}, resolve));
      const slow = stall();
      const h = await jobHarness(database, notify);
      return { h, slow, lines, worker: h.worker({ slow: { run: slow.run, limit: 4 } }) };
    };
    const [one, two] = [await replica(pools[0]), await replica(pools[1])];
    await two.worker.tick();
    for (let n = 0; n < 4; n += 1) await one.h.enqueue("slow");
    await one.worker.tick();
    expect(one.slow.began).toHaveLength(2);
    await expect.poll(() => two.slow.began).toHaveLength(2);
    expect([...one.lines, ...two.lines]).toEqual([]);
  });

  test("a process that is killed loses no work: another one does it when its lease is over", async () => {
    const { url, pools } = await twoPools();
    const h = await jobHarness(pools[0]);
    await h.enqueue("count", { n: 1 });
    const script = fileURLToPath(new URL("victim.ts", import.meta.url));
    const victim = follow(spawn(process.execPath, [script, url], { stdio: ["ignore", "pipe", "pipe"] }));
    await victim.printed(/took \S+/);
    victim.child.kill("SIGKILL");
    expect(await victim.ended).toBe("SIGKILL");

    const done: unknown[] = [];
    const handlers = {
      count: async ({ payload, attempt }: object & { payload: unknown; attempt: number }) => {
        done.push([payload, attempt]);
      },
    };
    await h.worker(handlers, systemClock).work();
    expect(done).toEqual([]);
    await h.age(31_000);
    await h.worker(handlers, systemClock).work();
    expect(done).toEqual([[{ n: 1 }, 2]]);
    expect(await h.rows()).toEqual([]);
  });

  test("a process frozen for longer than a lease gives up the jobs that another one claimed", async () => {
    const { url, pools } = await twoPools();
    const h = await jobHarness(pools[0]);
    await h.enqueue("count", { n: 1 });
    const script = fileURLToPath(new URL("victim.ts", import.meta.url));
    const victim = follow(spawn(process.execPath, [script, url], { stdio: ["ignore", "pipe", "pipe"] }));
    await victim.printed(/took \S+/);
    // It keeps its job for as long as it renews the lease.
    await h.age(25_000);
    await expect.poll(async () => (await h.left())[0]).toBeGreaterThan(25_000);
    victim.child.kill("SIGSTOP");
    await h.age(31_000);
    const rescue = gate();
    const worker = h.worker({ count: rescue.handler }, systemClock);
    await worker.tick();
    await rescue.begun;
    victim.child.kill("SIGCONT");
    await victim.printed(/lost \S+: The job was taken over/);
    expect(await h.rows()).toMatchObject([{ attempts: 2, status: "pending" }]);
    rescue.open();
    await worker.work();
    expect(await h.rows()).toEqual([]);
    victim.child.kill("SIGKILL");
    await victim.ended;
  });

  test("a claim waits for no other: rows being claimed elsewhere are skipped", async () => {
    const { pools } = await twoPools();
    const h = await jobHarness(pools[0]);
    await h.enqueue("count", { n: 1 });
    await h.enqueue("count", { n: 2 });
    const done: unknown[] = [];
    const worker = h.worker({ count: async ({ payload }) => void done.push(payload) });
    await pools[1].transaction(async (tx) => {
      await tx.execute("select 1 from jobs order by id limit 1 for update");
      await worker.work();
    });
    expect(done).toEqual([{ n: 2 }]);
    await worker.work();
    expect(done).toEqual([{ n: 2 }, { n: 1 }]);
  });

  test("a claim blocks only the rows it takes: a dead process's jobs come first", async () => {
    const { pools } = await twoPools();
    const h = await jobHarness(pools[0]);
    const organizationId = newId();
    for (let n = 1; n <= 4; n += 1) await h.enqueue("count", { n }, { organizationId });
    const leave =
      "update jobs set locked_until = '2020-01-01', attempts = $1::int where payload->>'n' = any($2::text[])";
    await pools[0].query(leave, [1, "{2,3}"]);
    await pools[0].query(leave, [10, "{4}"]);
    const slots = [{ kind: "count", free: 2, share: 1, after: commonLane }];
    const claimOn = async (queries: Queries, running: (InLane & { id: string })[]) => {
      const { claimed, dead } = await claim(queries, {
        slots,
        running,
        takesOver: true,
        lock: newId(),
        now: h.clock.now(),
      });
      return { claimed: claimed.map(({ payload }) => payload), dead: dead.length };
    };
    await pools[1].transaction(async (tx) => {
      const spent = [{ id: newId(), kind: "count", lane: organizationId }];
      expect(await claimOn(queriesOf(tx), spent)).toEqual({ claimed: [], dead: 1 });
      expect(await claimOn(pools[0], [])).toEqual({ claimed: [{ n: 2 }], dead: 0 });
      expect(await claimOn(queriesOf(tx), [])).toEqual({ claimed: [{ n: 3 }], dead: 0 });
    });
    expect(await claimOn(pools[0], [])).toEqual({ claimed: [{ n: 1 }], dead: 0 });
  });
});

describe.skipIf(!server)("on PostgreSQL", () => {
  test("a claim looks at a few jobs only, however many are due", async () => {
    const { pools } = await twoPools();
    const [database] = pools;
    await database.query(
      `insert into jobs (id, kind, key, organization_id, run_at)
       select gen_random_uuid(), 'count', n::text, md5((n % 50)::text)::uuid,
         now() + case when n % 4 = 0 then interval '1 hour' else interval '-1 hour' end
       from generate_series(1, 6400) n`,
      [],
    );
    const slots = [{ kind: "count", free: 8, share: 4, after: commonLane }];
    for (const prepare of ["select 1", "analyze jobs"]) {
      await database.query(prepare, []);
      const explained = explaining(database);
      const claiming = claim(explained.database, {
        slots,
        running: [],
        takesOver: true,
        lock: newId(),
        now: Date.now(),
      });
      await expect(claiming).rejects.toThrow("The claim answered no row");
      await isAnyLeft(explained.database, ["count"], Date.now());
      const accesses = explained.reads("jobs");
      expect(accesses.filter(({ indexes }) => indexes.length === 0)).toEqual([]);
      expect(sum(accesses.map(({ read }) => read))).toBeLessThan(100);
    }
    const claimed = await database.query("select 1 from jobs where locked_until is not null", []);
    expect(claimed).toHaveLength(16);
    expect(await isAnyLeft(database, ["count"], Date.now())).toBe(true);
    expect(await isAnyLeft(database, ["other"], Date.now())).toBe(false);
  });

  test("jobs of the release before organizations took turns are done after its upgrade, and along with it", async () => {
    const target = { url: await freshDatabase(server) };
    const migrations = readMigrations();
    const upgrade = migrations.findIndex(({ sql }) => sql.some((text) => text.includes("jobs_lanes")));
    expect(upgrade).toBeGreaterThan(0);
    const database = poolOn(target);
    await database.query("drop schema public cascade; create schema public; drop schema if exists drizzle cascade", []);
    const options = { clock: systemClock, timeoutMs: 10_000 };
    await migrate(target, migrations.slice(0, upgrade), options);
    const enqueueOld = (n: number, lease = "null::uuid, null::timestamptz") =>
      database.query(
        `insert into jobs (id, kind, payload, locked_by, locked_until)
         select $1::uuid, 'count', jsonb_build_object('n', $2::int), ${lease}`,
        [newId(), n],
      );
    await enqueueOld(1);
    await enqueueOld(2, "gen_random_uuid(), '2020-01-01'");
    await migrate(target, migrations, options);
    await enqueueOld(3);
    const h = await jobHarness(database);
    const done: unknown[] = [];
    await h.worker({ count: async ({ payload }) => void done.push(payload) }).work();
    expect(done).toEqual([{ n: 2 }, { n: 1 }, { n: 3 }]);
  });
});
