import { expect, test } from "vitest";
import { Rounds } from "../../../src/core/limits/rounds.ts";

/** Rounds that the test ends. */
function controlled() {
  const begun: PromiseWithResolvers<void>[] = [];
  const rounds = new Rounds(() => {
    const round = Promise.withResolvers<void>();
    begun.push(round);
    return round.promise;
  });
  const end = async (error?: Error) => {
    const round = begun.at(-1);
    if (error) round?.reject(error);
    else round?.resolve();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { rounds, begun, end };
}

/** The state of a promise so far. */
function watch(promise: Promise<void>) {
  const seen = { state: "pending" };
  promise.then(
    () => {
      seen.state = "resolved";
    },
    (error: Error) => {
      seen.state = error.message;
    },
  );
  return seen;
}

test("a round begins at once, and all calls during it have one more follow, which they wait for", async () => {
  const { rounds, begun, end } = controlled();
  const first = watch(rounds.run());
  expect(begun).toHaveLength(1);
  const others = [watch(rounds.run()), watch(rounds.run())];
  expect(begun).toHaveLength(1);
  await end();
  expect(begun).toHaveLength(2);
  expect([first, ...others].map(({ state }) => state)).toEqual(["pending", "pending", "pending"]);
  await end();
  expect(begun).toHaveLength(2);
  expect([first, ...others].map(({ state }) => state)).toEqual(["resolved", "resolved", "resolved"]);
  rounds.run();
  expect(begun).toHaveLength(3);
});

test("a round may want another one after itself", async () => {
  let left = 3;
  const rounds = new Rounds(async () => {
    left -= 1;
    if (left > 0) rounds.again();
  });
  await rounds.run();
  expect(left).toBe(0);
});

test("a round that fails ends them, and those that were wanted wait for the next call", async () => {
  const { rounds, begun, end } = controlled();
  const seen = [watch(rounds.run()), watch(rounds.run())];
  await end(new Error("failed"));
  expect([begun.length, ...seen.map(({ state }) => state)]).toEqual([1, "failed", "failed"]);
  const next = watch(rounds.run());
  expect(begun).toHaveLength(2);
  await end();
  expect([begun.length, next.state]).toEqual([2, "resolved"]);
});

test("the end can be waited for, however it comes, and is there where nothing runs", async () => {
  const { rounds, end } = controlled();
  await rounds.ended();
  const run = watch(rounds.run());
  const ended = watch(rounds.ended());
  await new Promise((resolve) => setImmediate(resolve));
  expect(ended.state).toBe("pending");
  await end(new Error("failed"));
  expect([run.state, ended.state]).toEqual(["failed", "resolved"]);
});
