import { once } from "node:events";
import type { Worker } from "node:worker_threads";
import { beforeEach, expect, test, vi } from "vitest";
import { threadedScripts } from "../../src/adapters/node/scripts/pool.ts";
import { TestClock } from "../clock.ts";
import { collectLog } from "../embedded.ts";
import { script } from "./script.ts";

const { threads, settings } = vi.hoisted(() => ({ threads: [] as Worker[], settings: [] as unknown[] }));
vi.mock("node:worker_threads", async (load) => {
  const real = await load<typeof import("node:worker_threads")>();
  class WatchedWorker extends real.Worker {
    constructor(...parameters: ConstructorParameters<typeof Worker>) {
      super(...parameters);
      threads.push(this);
      settings.push(parameters[1]);
    }
  }
  return { ...real, Worker: WatchedWorker };
});
beforeEach(() => {
  threads.length = 0;
});

const endless = "console.log('begin'); for (;;);";
/** The interpreter does not notice its time limit. */
const stubborn = "console.log('begin'); 'a'.repeat(2 ** 23).indexOf('a'.repeat(2 ** 22) + 'b')";
const one = { ok: true, result: 1, logs: [] };

function open(options: { timeoutMs?: number; clock?: TestClock } = {}) {
  const clock = options.clock ?? new TestClock();
  const { log, lines } = collectLog();
  return { clock, lines, scripts: threadedScripts({ ...options, clock, log }) };
}

const begun = (worker: Worker | undefined) =>
  new Promise<void>((resolve) => {
    worker?.on("message", (report) => {
      if ("logged" in report) resolve();
    });
  });

test("the first script starts a thread, which has nothing of the process", async () => {
  const { scripts } = open();
  expect(threads).toEqual([]);
  expect(await scripts.run(script("export default 1"))).toEqual(one);
  expect(await scripts.run(script("export default 1"))).toEqual(one);
  expect(threads).toHaveLength(1);
  expect(settings[0]).toMatchObject({
    env: {},
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: 64 },
  });
});

test("two run, 32 wait, and the next ones are refused until there is room", async () => {
  const { scripts } = open();
  const runs = Array.from({ length: 40 }, (_, n) => scripts.run(script(`export default ${n}`)));
  const results = await Promise.all(runs);
  expect(results.slice(0, 34).map((result) => result.ok && result.result)).toEqual(
    Array.from({ length: 34 }, (_, n) => n),
  );
  const refused = { ok: false, error: "Too many scripts at once; try again", logs: [] };
  expect(results.slice(34)).toEqual(Array.from({ length: 6 }, () => refused));
  expect(threads).toHaveLength(2);
  expect(await scripts.run(script("export default 1"))).toEqual(one);
});

test("a script that does not end is ended after 5 seconds and its thread replaced, while others go on", async () => {
  const { clock, scripts, lines } = open();
  const bad = scripts.run(script(stubborn));
  await begun(threads[0]);
  const good = Array.from({ length: 4 }, () => scripts.run(script("export default 1")));
  expect(await Promise.all(good)).toEqual([one, one, one, one]);
  await clock.advance(5_499);
  const exit = once(threads[0] as Worker, "exit");
  await clock.advance(1);
  expect(await bad).toEqual({ ok: false, error: "The script did not finish within 5 seconds", logs: ["begin"] });
  await exit;
  expect(await Promise.all([1, 2].map(() => scripts.run(script("export default 1"))))).toEqual([one, one]);
  expect(threads).toHaveLength(3);
  expect(lines).toEqual([]);
});

test.each([
  ["the digits of a huge number", "console.log('begin'); String(7n ** 300000n)"],
  ["a sparse array", "console.log('begin'); new Array(2 ** 31).includes(1)"],
])("%s, which the interpreter does not notice either, ends with its thread and keeps its log", async (_what, content) => {
  const { clock, scripts } = open();
  const bad = scripts.run(script(content));
  await begun(threads[0]);
  await clock.advance(5_500);
  expect(await bad).toEqual({ ok: false, error: "The script did not finish within 5 seconds", logs: ["begin"] });
  expect(await scripts.run(script("export default 1"))).toEqual(one);
});

test("when both threads are stuck, the waiting scripts run afterwards", async () => {
  const { clock, scripts } = open({ timeoutMs: 600 });
  const runs = [stubborn, stubborn, endless, "export default 1"].map((content) => scripts.run(script(content)));
  const late = { ok: false, error: "The script did not finish within 0.6 seconds", logs: ["begin"] };
  await Promise.all(threads.map(begun));
  await clock.advance(1_100);
  expect(await Promise.all(runs)).toEqual([late, late, late, one]);
});

test("an abort ends a script that runs, or takes it from those that wait", async () => {
  const { scripts, lines } = open();
  const [running, waiting, before] = [new AbortController(), new AbortController(), new AbortController()];
  const stuck = [0, 1].map(() => scripts.run(script(endless, { signal: running.signal })));
  const queued = scripts.run(script(endless, { signal: waiting.signal }));
  const last = scripts.run(script("export default 1"));
  await Promise.all(threads.map(begun));
  waiting.abort(new Error("no longer"));
  await expect(queued).rejects.toThrow("no longer");
  running.abort(new Error("stopped"));
  expect(await Promise.allSettled(stuck)).toMatchObject(
    [0, 1].map(() => ({ status: "rejected", reason: { message: "stopped" } })),
  );
  expect(await last).toEqual(one);
  before.abort(new Error("too late"));
  await expect(scripts.run(script("export default 1", { signal: before.signal }))).rejects.toThrow("too late");
  expect(lines).toEqual([]);
});

test("once all running and waiting ones are aborted, the next one runs at once", async () => {
  const { scripts, lines } = open();
  const controllers = Array.from({ length: 34 }, () => new AbortController());
  const runs = controllers.map(({ signal }) => scripts.run(script(endless, { signal })));
  const ended = Promise.allSettled(runs);
  await Promise.all(threads.map(begun));
  for (const controller of controllers) controller.abort(new Error("stopped"));
  expect((await ended).every(({ status }) => status === "rejected")).toBe(true);
  // The clock of this test stands still: no script reaches its time limit.
  expect(await scripts.run(script("export default 1"))).toEqual(one);
  expect(threads.length).toBeLessThanOrEqual(4);
  expect(lines).toEqual([]);
});

test("of one owner 8 wait, and leave room for others", async () => {
  const { scripts } = open();
  const own = Array.from({ length: 12 }, (_, n) => scripts.run(script(`export default ${n}`, { owner: "acme" })));
  const other = scripts.run(script("export default 1", { owner: "globex" }));
  const results = await Promise.all(own);
  expect(results.map(({ ok }) => ok)).toEqual([...Array(10).fill(true), false, false]);
  expect(results[10]).toMatchObject({ error: "Too many scripts at once; try again" });
  expect(await other).toEqual(one);
  expect(await scripts.run(script("export default 1", { owner: "acme" }))).toEqual(one);
});

test("scripts of one owner that do not end hold up no other owner's", async () => {
  const { scripts } = open();
  const controller = new AbortController();
  const acme = { owner: "acme", signal: controller.signal };
  const stuck = Array.from({ length: 10 }, () => scripts.run(script(stubborn, acme)));
  const ended = Promise.allSettled(stuck);
  await Promise.all(threads.map(begun));
  expect(threads).toHaveLength(2);
  // The clock of this test stands still: none of the ten ends.
  expect(await scripts.run(script("export default 1", { owner: "globex" }))).toEqual(one);
  expect(await scripts.run(script("export default 1", { owner: "initech" }))).toEqual(one);
  expect(threads).toHaveLength(3);
  controller.abort(new Error("stopped"));
  expect((await ended).every(({ status }) => status === "rejected")).toBe(true);
});

test("when two owners' scripts run on all threads to their limit, a third one's gets the first free thread", async () => {
  const { clock, scripts } = open();
  const controller = new AbortController();
  const run = (owner: string) => scripts.run(script(stubborn, { owner, signal: controller.signal }));
  const first = [run("acme"), run("acme"), run("globex")];
  const others = Promise.allSettled(["acme", "acme", "acme", "globex", "globex"].map(run));
  await Promise.all(threads.map(begun));
  expect(threads).toHaveLength(3);
  const third = scripts.run(script("export default 1", { owner: "initech" }));
  await clock.advance(5_500);
  const late = { ok: false, error: "The script did not finish within 5 seconds", logs: ["begin"] };
  expect(await Promise.all(first)).toEqual([late, late, late]);
  // The others would end only after another 5 seconds, and the clock stands still.
  expect(await third).toEqual(one);
  controller.abort(new Error("stopped"));
  expect((await others).every(({ status }) => status === "rejected")).toBe(true);
});

test("an abort after the end changes nothing", async () => {
  const { scripts } = open();
  const controller = new AbortController();
  expect(await scripts.run(script("export default 1", { signal: controller.signal }))).toEqual(one);
  controller.abort();
  expect(await scripts.run(script("export default 1"))).toEqual(one);
  expect(threads).toHaveLength(1);
});

test("threads end after a minute without a script, and the next one starts another", async () => {
  const { clock, scripts, lines } = open();
  await scripts.run(script("export default 1"));
  await clock.advance(59_000);
  await scripts.run(script("export default 1"));
  await clock.advance(59_000);
  expect(threads[0]?.threadId).toBeGreaterThan(0);
  const exit = once(threads[0] as Worker, "exit");
  await clock.advance(1_000);
  await exit;
  expect(await scripts.run(script("export default 1"))).toEqual(one);
  expect(threads).toHaveLength(2);
  expect(lines).toEqual([]);
});

test("a thread that dies fails its script, and the next one gets another", async () => {
  const { scripts, lines } = open();
  const failed = { ok: false, error: "The sandbox of the script failed; try again" };
  const first = scripts.run(script(endless));
  await begun(threads[0]);
  await threads[0]?.terminate();
  expect(await first).toEqual({ ...failed, logs: ["begin"] });

  const second = scripts.run(script(endless));
  await begun(threads[1]);
  // The effect of an exception in the thread.
  threads[1]?.emit("error", new Error("broken"));
  expect(await second).toMatchObject(failed);
  expect(lines).toEqual(["A thread that runs scripts failed"]);

  const third = scripts.run(script(endless));
  await begun(threads[2]);
  threads[2]?.emit("error", Object.assign(new Error("heap"), { code: "ERR_WORKER_OUT_OF_MEMORY" }));
  expect(await third).toMatchObject({ error: "The script needs more than the 64 MB of memory that it may use" });
  expect(lines).toHaveLength(1);
  await Promise.all(threads.map((thread) => thread.terminate()));
  expect(await scripts.run(script("export default 1"))).toEqual(one);
});
