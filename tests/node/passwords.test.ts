import { spawnSync } from "node:child_process";
import { once } from "node:events";
import type { Worker } from "node:worker_threads";
import { beforeEach, expect, test, vi } from "vitest";
import { threadedPasswords } from "../../src/adapters/node/password/thread.ts";
import { passwords as inline } from "../../src/core/credentials/password.ts";
import { TestClock } from "../clock.ts";
import { collectLog } from "../embedded.ts";

const adapter = new URL("../../src/adapters/node/password/thread.ts", import.meta.url).href;

const threads: Worker[] = vi.hoisted(() => []);
vi.mock("node:worker_threads", async (load) => {
  const real = await load<typeof import("node:worker_threads")>();
  class WatchedWorker extends real.Worker {
    constructor(...parameters: ConstructorParameters<typeof Worker>) {
      super(...parameters);
      threads.push(this);
    }
  }
  return { ...real, Worker: WatchedWorker };
});
beforeEach(() => {
  threads.length = 0;
});

const newest = () => threads.at(-1) as Worker;

function open() {
  const clock = new TestClock();
  const { log, lines } = collectLog();
  return { clock, lines, passwords: threadedPasswords({ clock, log }) };
}

test("hashes and verifies as on the own thread, in one thread that the first call starts", async () => {
  const { passwords } = open();
  expect(threads).toEqual([]);
  const hash = await passwords.hash("caf\u00e9 au lait");
  expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  const [right, wrong, nobody, elsewhere] = await Promise.all([
    passwords.verify(hash, "cafe\u0301 au lait"),
    passwords.verify(hash, "tea"),
    passwords.verify(null, "caf\u00e9 au lait"),
    inline.verify(hash, "caf\u00e9 au lait"),
  ]);
  expect([right, wrong, nobody, elsewhere]).toEqual([true, false, false, true]);
  const bcrypt = "$2b$04$abcdefghijklmnopqrstuuHE6r6UWcAiMPmElKYvEeNhoV1RyxPqi";
  expect(await passwords.verifyBcrypt(bcrypt, "no")).toBe(false);
  await expect(passwords.verify("no hash", "x")).rejects.toThrow();
  expect(await passwords.verify(hash, "caf\u00e9 au lait")).toBe(true);
  expect(threads).toHaveLength(1);
});

test("leaves the event loop free while 20 passwords are hashed", async () => {
  const { passwords } = open();
  await passwords.hash("warm");
  let ticks = 0;
  const ticking = setInterval(() => {
    ticks += 1;
  }, 1);
  await Promise.all(Array.from({ length: 20 }, () => passwords.hash("correct horse")));
  clearInterval(ticking);
  // Hashing on this thread would leave a tick or two between two hashes.
  expect(ticks).toBeGreaterThan(100);
});

test("lets 64 calls wait and refuses the next one, until there is room again", async () => {
  const { passwords } = open();
  const bcrypt = "$2b$04$abcdefghijklmnopqrstuuHE6r6UWcAiMPmElKYvEeNhoV1RyxPqi";
  const calls = Array.from({ length: 70 }, () => passwords.verifyBcrypt(bcrypt, "no"));
  const settled = await Promise.allSettled(calls);
  const refused = settled.flatMap((call) => (call.status === "rejected" ? [call.reason] : []));
  expect(refused).toHaveLength(6);
  expect(settled.slice(0, 64).every(({ status }) => status === "fulfilled")).toBe(true);
  for (const error of refused)
    expect(error).toMatchObject({
      status: 503,
      message: "Too many sign-ins at once; try again",
      retryAfterSeconds: 1,
    });
  expect(await passwords.verifyBcrypt(bcrypt, "no")).toBe(false);
});

test("lets 4 checks of one client wait and refuses the next one before it queues, until one is over", async () => {
  const { passwords } = open();
  const hash = await passwords.hash("tea");
  const one = Array.from({ length: 9 }, () => passwords.verify(hash, "tea", "192.0.2.1"));
  const others = [passwords.verify(hash, "tea", "192.0.2.2"), passwords.verify(hash, "tea")];
  const settled = await Promise.allSettled(one);
  expect(settled.slice(0, 4)).toEqual(Array(4).fill({ status: "fulfilled", value: true }));
  const refused = settled.slice(4).flatMap((call) => (call.status === "rejected" ? [call.reason] : []));
  expect(refused).toHaveLength(5);
  for (const error of refused)
    expect(error).toMatchObject({
      status: 429,
      message: "Too many sign-ins at once: try again in 1 second",
      retryAfterSeconds: 1,
      limit: { limit: 4, remaining: 0, resetSeconds: 1 },
    });
  expect(await Promise.all(others)).toEqual([true, true]);
  await expect(passwords.verify("no hash", "tea", "192.0.2.1")).rejects.toThrow();
  const again = Array.from({ length: 4 }, () => passwords.verify(hash, "tea", "192.0.2.1"));
  expect(await Promise.all(again)).toEqual([true, true, true, true]);
});

test("two clients with 50 calls each leave the queue open for a third one", async () => {
  const { passwords } = open();
  const hash = await passwords.hash("tea");
  const flood = ["2001:db8:0:1::/64", "2001:db8:0:2::/64"].flatMap((client) =>
    Array.from({ length: 50 }, () => passwords.verify(hash, "no", client)),
  );
  const settled = Promise.allSettled(flood);
  expect(await passwords.verify(hash, "tea", "192.0.2.1")).toBe(true);
  expect((await settled).filter(({ status }) => status === "fulfilled")).toHaveLength(8);
});

test("ends its thread after five seconds without a call, and starts another when there is one", async () => {
  const { clock, passwords, lines } = open();
  await passwords.hash("one");
  const first = newest();
  await clock.advance(4000);
  await passwords.hash("two");
  await clock.advance(4000);
  expect(first.threadId).toBeGreaterThan(0);
  const exit = once(first, "exit");
  await clock.advance(1000);
  await exit;
  expect(threads).toHaveLength(1);
  await passwords.hash("three");
  expect(threads).toHaveLength(2);
  expect(lines).toEqual([]);
});

test("never ends its thread under a call that takes longer than five seconds", async () => {
  const { clock, passwords } = open();
  await passwords.hash("one");
  const slow = passwords.hash("two");
  await clock.advance(10_000);
  expect(await slow).toContain("argon2id");
  expect(threads).toHaveLength(1);
});

test("a thread that dies fails the waiting calls, and the next call starts another", async () => {
  const { passwords, lines } = open();
  await passwords.hash("one");
  const waiting = [passwords.hash("two"), passwords.verify(null, "three")];
  // The effect of an exception in the thread.
  newest().emit("error", new Error("out of memory"));
  for (const { status, reason } of (await Promise.allSettled(waiting)) as PromiseRejectedResult[]) {
    expect(status).toBe("rejected");
    expect(reason).toMatchObject({ status: 503, message: "The password could not be checked; try again" });
  }
  expect(lines).toEqual(["The thread that checks passwords failed"]);

  const cut = passwords.hash("four");
  await Promise.all([newest().terminate(), expect(cut).rejects.toMatchObject({ status: 503 })]);
  expect(await passwords.hash("five")).toContain("argon2id");
  expect(threads).toHaveLength(3);
});

test("a process ends by itself, but not before its passwords are hashed", () => {
  const script = `
    const { threadedPasswords } = await import(${JSON.stringify(adapter)});
    const passwords = threadedPasswords({ clock: { now: Date.now, after: () => () => {} }, log: console });
    const hash = await passwords.hash("one");
    console.log(await passwords.verify(hash, "one"));
    process.on("exit", (code) => console.log("exit", code));`;
  const { stdout, stderr } = spawnSync(process.execPath, ["--eval", script], {
    encoding: "utf8",
    timeout: 60_000,
  });
  expect({ stdout, stderr }).toEqual({ stdout: "true\nexit 0\n", stderr: "" });
});
