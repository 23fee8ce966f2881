import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { systemClock } from "../../src/adapters/node/clock.ts";
import { type Database, openDatabase } from "../../src/db/client.ts";
import { createDatabase, dropDatabase, startThrowaway } from "../real-postgres.ts";
import { follow } from "../runtime/program.ts";
import { jobHarness } from "./jobs.ts";

vi.setConfig({ testTimeout: 60_000 });

/** One session, as the embedded database has, can't prove what several processes do. */
const server = await startThrowaway();
afterAll(() => server?.stop());

async function twoPools(): Promise<{ url: string; pools: [Database, Database] }> {
  const url = await createDatabase(server?.url ?? "");
  const open = () => openDatabase({ url }, { max: 4, prepare: true, deadlineMs: 10_000, clock: systemClock });
  const pools: [Database, Database] = [open(), open()];
  onTestFinished(async () => {
    await Promise.all(pools.map((pool) => pool.close()));
    await dropDatabase(url);
  });
  return { url, pools };
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

  test("one that is killed loses no work: another one does it when its lease is over", async () => {
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
    const later = { now: () => Date.now() + 31_000, after: systemClock.after };
    await h.worker(handlers, later).work();
    expect(done).toEqual([[{ n: 1 }, 2]]);
    expect(await h.rows()).toEqual([]);
  });

  test("a claim that waits for nobody: what another one is claiming is skipped", async () => {
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
});
