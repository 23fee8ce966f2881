import { expect, test } from "vitest";
import { Semaphore } from "../../../src/core/limits/semaphore.ts";

const never = new AbortController().signal;

/** Work that reports its beginning, and runs until it is released. */
function pieces(semaphore: Semaphore) {
  const begun: string[] = [];
  const open = new Map<string, () => void>();
  return {
    begun,
    start(name: string, signal = never, size = 1): Promise<string> {
      const work = async () => {
        begun.push(name);
        await new Promise<void>((resolve) => open.set(name, resolve));
        return `${name} done`;
      };
      return semaphore.run(name.slice(0, 1), signal, work, size);
    },
    async end(name: string) {
      open.get(name)?.();
      await new Promise(setImmediate);
    },
  };
}

test("so many pieces run at a time, and owners take turns", async () => {
  const semaphore = new Semaphore({ most: 2 });
  const { begun, start, end } = pieces(semaphore);
  const first = start("a1");
  for (const name of ["a2", "a3", "b1", "a4", "b2"]) void start(name);
  await end("none");
  expect([begun, semaphore.taken]).toEqual([["a1", "a2"], 2]);
  await end("a1");
  expect(await first).toBe("a1 done");
  for (const name of ["a2", "a3", "b1"]) await end(name);
  expect(begun).toEqual(["a1", "a2", "a3", "b1", "a4", "b2"]);
  await end("a4");
  await end("b2");
  expect(semaphore.taken).toBe(0);
});

test("pieces count by their size, and the last one may go beyond what there is", async () => {
  const semaphore = new Semaphore({ most: 10, mostOfOne: 6 });
  const { begun, start, end } = pieces(semaphore);
  for (const [name, size] of [
    ["a1", 5],
    ["a2", 4],
    ["a3", 1],
    ["b1", 1],
    ["b2", 1],
  ] as const)
    void start(name, never, size);
  await end("none");
  expect([begun, semaphore.taken]).toEqual([["a1", "a2", "b1"], 10]);
  await end("a1");
  expect([begun.slice(3), semaphore.taken]).toEqual([["a3", "b2"], 7]);
  for (const name of ["a2", "a3", "b1", "b2"]) await end(name);
  expect(semaphore.taken).toBe(0);
});

test("one owner never has more than its part, however many places are free", async () => {
  const semaphore = new Semaphore({ most: 3, mostOfOne: 2 });
  const { begun, start, end } = pieces(semaphore);
  for (const name of ["a1", "a2", "a3", "a4", "b1"]) void start(name);
  await end("none");
  expect([begun, semaphore.taken]).toEqual([["a1", "a2", "b1"], 3]);
  await end("b1");
  expect(begun).toHaveLength(3);
  await end("a2");
  expect(begun).toEqual(["a1", "a2", "b1", "a3"]);
});

test("work that fails frees its permit, and work that is cancelled while it waits never begins", async () => {
  const semaphore = new Semaphore({ most: 1 });
  const { begun, start, end } = pieces(semaphore);
  const failing = semaphore.run("a", never, () => end("none").then(() => Promise.reject(new Error("It broke"))));
  const cancelled = new AbortController();
  const waiting = start("b1", cancelled.signal);
  const next = start("c1");
  cancelled.abort(new Error("Nobody wants it"));
  await expect(waiting).rejects.toThrow("Nobody wants it");
  await expect(failing).rejects.toThrow("It broke");
  await expect(start("d1", cancelled.signal)).rejects.toThrow("Nobody wants it");
  await end("c1");
  expect([await next, begun]).toEqual(["c1 done", ["c1"]]);
});

test("work without an owner waits in its order, and what waits can be counted and rejected", async () => {
  const semaphore = new Semaphore({ most: 1 });
  const begun: number[] = [];
  const gate = Promise.withResolvers<void>();
  const pieces = [1, 2, 3].map((n) =>
    semaphore.run(undefined, never, () => {
      begun.push(n);
      return gate.promise;
    }),
  );
  expect(semaphore.waiting).toBe(2);
  const rejected = Promise.allSettled(pieces);
  semaphore.rejectWaiting(new Error("Not now"));
  gate.resolve();
  const later = semaphore.run(undefined, never, async () => "later");
  expect((await rejected).map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
  expect([await later, begun, semaphore.waiting, semaphore.taken]).toEqual(["later", [1], 0, 0]);
});

test("a limit that changes bounds what begins next, and more begins once somebody says that it grew", async () => {
  let most = 2;
  const semaphore = new Semaphore({ most: () => most });
  const { begun, start, end } = pieces(semaphore);
  for (const name of ["a1", "a2", "a3", "a4"]) void start(name);
  await end("none");
  most = 1;
  await end("a1");
  expect(begun).toEqual(["a1", "a2"]);
  most = 3;
  semaphore.admit();
  await end("none");
  expect([begun, semaphore.taken]).toEqual([["a1", "a2", "a3", "a4"], 3]);
});
