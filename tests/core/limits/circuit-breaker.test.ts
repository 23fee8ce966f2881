import { expect, test } from "vitest";
import { createCircuitBreaker } from "../../../src/core/limits/circuit-breaker.ts";
import { TestClock } from "../../clock.ts";

test("a target that does not answer rests, longer each time, and then gets one call at a time until it answers", async () => {
  const clock = new TestClock();
  const breaker = createCircuitBreaker(clock);
  const start = clock.now();
  expect(breaker.until("a")).toBe(null);
  breaker.note("a", false);
  expect(breaker.until("a")).toBe(start + 2_000);
  expect(breaker.until("b")).toBe(null);
  await clock.advance(2_000);
  expect(breaker.until("a")).toBe(null);
  expect(breaker.until("a")).toBe(start + 32_000);
  breaker.note("a", false);
  expect(breaker.until("a")).toBe(start + 6_000);
  for (let n = 0; n < 10; n += 1) breaker.note("a", false);
  expect(breaker.until("a")).toBe(clock.now() + 60_000);
  breaker.note("a", true);
  expect(breaker.until("a")).toBe(null);
});
