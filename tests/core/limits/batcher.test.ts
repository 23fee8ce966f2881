import { expect, test } from "vitest";
import { EngineError } from "../../../src/core/errors.ts";
import { Batcher, type BatchWork } from "../../../src/core/limits/batcher.ts";
import { TestClock } from "../../clock.ts";

/** Work that doubles each number, and the numbers of each batch. */
function doubling(refuses: (items: readonly number[]) => unknown = () => null) {
  const ran: (readonly number[])[] = [];
  const work: BatchWork<number, number> = async (items) => {
    ran.push(items);
    const error = refuses(items);
    if (error) throw error;
    return items.map((item) => item * 2);
  };
  return { ran, work };
}

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);

test("items share batches and get their own results; batches grow while they are quick", async () => {
  const batcher = new Batcher(new TestClock());
  const { ran, work } = doubling();
  const results = await Promise.all(numbers(100).map((n) => batcher.run(work, n)));
  expect(results).toEqual(numbers(100).map((n) => n * 2));
  expect(ran.map(({ length }) => length)).toEqual([16, 32, 32, 20]);
});

test("a batch that took long halves the next one, down to eight items, until batches are quick", async () => {
  const clock = new TestClock();
  const batcher = new Batcher(clock);
  const ran: number[] = [];
  const took = [99, 201, 201, 201, 200, 100, 99, 99];
  const work: BatchWork<number, number> = async (items) => {
    ran.push(items.length);
    await clock.jump(took[ran.length - 1] ?? 0);
    return items;
  };
  await Promise.all(numbers(115).map((n) => batcher.run(work, n)));
  expect(ran).toEqual([16, 32, 16, 8, 8, 8, 8, 16, 3]);
});

test("one batch runs at a time, of whatever work; items that come meanwhile are the next batches", async () => {
  const batcher = new Batcher(new TestClock());
  const order: string[] = [];
  const slow =
    (name: string): BatchWork<number, void> =>
    async (items) => {
      order.push(`${name} ${items} begins`);
      await new Promise((resolve) => setImmediate(resolve));
      order.push(`${name} ends`);
      return [];
    };
  const [read, write] = [slow("read"), slow("write")];
  const first = batcher.run(read, 1);
  await Promise.resolve();
  await Promise.all([first, batcher.run(write, 2), batcher.run(read, 3), batcher.run(write, 4)]);
  expect(order).toEqual(["read 1 begins", "read ends", "write 2,4 begins", "write ends", "read 3 begins", "read ends"]);
});

test("an item that can't be done fails alone", async () => {
  const batcher = new Batcher(new TestClock());
  const { ran, work } = doubling((items) => (items.includes(1) ? new Error("no ones") : null));
  const results = await Promise.allSettled(numbers(3).map((n) => batcher.run(work, n)));
  expect(results).toMatchObject([{ value: 0 }, { reason: { message: "no ones" } }, { value: 4 }]);
  expect(ran).toEqual([numbers(3), [0], [1], [2]]);
});

test("an outage fails all items of a batch, which are not tried again", async () => {
  const batcher = new Batcher(new TestClock());
  const { ran, work } = doubling(() => new EngineError("unavailable", "away"));
  const results = await Promise.allSettled(numbers(3).map((n) => batcher.run(work, n)));
  expect([results.map(({ status }) => status), ran.length]).toEqual([["rejected", "rejected", "rejected"], 1]);
});
