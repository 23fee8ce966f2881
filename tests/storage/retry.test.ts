import { describe, expect, test } from "vitest";
import { EngineError } from "../../src/core/errors.ts";
import { patiently, unlessDeadlocked, unlessOvertaken } from "../../src/db/retry.ts";
import { TestClock } from "../clock.ts";

const failure = (code: string) => new Error("A statement failed", { cause: Object.assign(new Error(code), { code }) });
const [deadlock, duplicate] = [failure("40P01"), failure("23505")];
const away = new EngineError("unavailable", "The database is unavailable");

/** Work that rejects with each of these errors in turn, and then answers how often it was called. */
function failing(...errors: Error[]) {
  let calls = 0;
  return {
    work: async () => {
      const error = errors[calls];
      calls += 1;
      if (error) throw error;
      return calls;
    },
    calls: () => calls,
  };
}

describe("work that lost a deadlock", () => {
  test.each([unlessDeadlocked, unlessOvertaken])("is repeated by %o up to four times", async (repeated) => {
    expect(await repeated(failing(deadlock, deadlock, deadlock, deadlock).work)).toBe(5);
    const hopeless = failing(...Array.from({ length: 9 }, () => deadlock));
    await expect(repeated(hopeless.work)).rejects.toBe(deadlock);
    expect(hopeless.calls()).toBe(5);
  });
});

test("only work that reads first is repeated after a duplicate", async () => {
  expect(await unlessOvertaken(failing(duplicate).work)).toBe(2);
  const once = failing(duplicate);
  await expect(unlessDeadlocked(once.work)).rejects.toBe(duplicate);
  expect(once.calls()).toBe(1);
});

describe("a patient statement", () => {
  test("waits 0.5, 1, 2 and 4 seconds for a database that is away", async () => {
    const clock = new TestClock();
    const { work, calls } = failing(away, deadlock, away, away);
    const done = patiently(clock, work);
    for (const [ms, expected] of [
      [0, 1],
      [499, 1],
      [1, 2],
      [1000, 3],
      [2000, 4],
      [3999, 4],
      [1, 5],
    ] as const) {
      await clock.advance(ms);
      expect(calls()).toBe(expected);
    }
    expect(await done).toBe(5);
  });

  test("gives up at once where waiting does not help", async () => {
    const { work, calls } = failing(duplicate);
    await expect(patiently(new TestClock(), work)).rejects.toBe(duplicate);
    expect(calls()).toBe(1);
  });
});
