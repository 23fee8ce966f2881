import fc from "fast-check";
import { expect, test } from "vitest";
import { FairQueue } from "../../../src/core/limits/fair-queue.ts";

interface Job {
  owner: string | undefined;
  n: number;
}

const anyone = () => true;

function queueOf(...owners: (string | undefined)[]): { queue: FairQueue<Job>; jobs: Job[] } {
  const queue = new FairQueue<Job>();
  const jobs = owners.map((owner, n) => ({ owner, n }));
  for (const job of jobs) queue.add(job);
  return { queue, jobs };
}

function takeAll(queue: FairQueue<Job>, mayRun: (owner: string | undefined) => boolean = anyone): number[] {
  const order: number[] = [];
  for (let job = queue.take(mayRun); job; job = queue.take(mayRun)) order.push(job.n);
  return order;
}

test("owners take turns, and each has its own jobs in their order", () => {
  const { queue } = queueOf("acme", "acme", "acme", "acme", "globex", "globex", undefined);
  expect(queue.size).toBe(7);
  expect([queue.sizeOf("acme"), queue.sizeOf("globex"), queue.sizeOf("initech")]).toEqual([4, 2, 0]);
  expect(takeAll(queue)).toEqual([0, 4, 6, 1, 5, 2, 3]);
  expect(queue.size).toBe(0);
});

test("an owner that comes anew goes behind those that wait", () => {
  const { queue } = queueOf("acme", "globex");
  expect(queue.take(anyone)?.n).toBe(0);
  queue.add({ owner: "acme", n: 2 });
  expect(takeAll(queue)).toEqual([1, 2]);
});

test("an owner that may not run is skipped, and is next as soon as it may", () => {
  const { queue } = queueOf("acme", "globex", "globex");
  expect(queue.take((owner) => owner !== "acme")?.n).toBe(1);
  expect(queue.take(() => false)).toBeUndefined();
  expect(takeAll(queue)).toEqual([0, 2]);
});

test("a job that is taken out is neither counted nor given, and what is not there is not taken out", () => {
  const { queue, jobs } = queueOf("acme", "acme", "globex");
  const [first, , last] = jobs;
  if (!first || !last) throw new Error("no jobs");
  expect([queue.remove(first), queue.remove(last), queue.remove(last)]).toEqual([true, true, false]);
  expect([queue.size, queue.sizeOf("globex")]).toEqual([1, 0]);
  expect(takeAll(queue)).toEqual([1]);
});

test("a waiting owner is overtaken by each other owner at most once", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 40 }), (owners) => {
      const { queue } = queueOf(...owners);
      const order = takeAll(queue).map((n) => owners[n]);
      expect([...order].sort()).toEqual([...owners].sort());
      for (let at = 0; at < order.length; at += 1) {
        const next = order.indexOf(order[at], at + 1);
        const between = order.slice(at + 1, next < 0 ? order.length : next);
        if (next > 0) expect(new Set(between).size).toBe(between.length);
      }
    }),
  );
});
