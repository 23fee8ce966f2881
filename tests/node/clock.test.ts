import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { systemClock } from "../../src/adapters/node/clock.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("calls once after the time, unless it is cancelled", () => {
  const kept = vi.fn();
  const cancelled = vi.fn();
  systemClock.after(1000, kept);
  systemClock.after(1000, cancelled)();
  vi.advanceTimersByTime(999);
  expect(kept).not.toHaveBeenCalled();
  vi.advanceTimersByTime(5000);
  expect(kept).toHaveBeenCalledOnce();
  expect(cancelled).not.toHaveBeenCalled();
});

test("waits longer than a Node timer can", () => {
  const fortyDays = 40 * 24 * 3600 * 1000;
  const kept = vi.fn();
  const cancelled = vi.fn();
  systemClock.after(fortyDays, kept);
  const cancel = systemClock.after(fortyDays, cancelled);
  vi.advanceTimersByTime(fortyDays - 1);
  expect(kept).not.toHaveBeenCalled();
  cancel();
  vi.advanceTimersByTime(1);
  expect(kept).toHaveBeenCalledOnce();
  expect(cancelled).not.toHaveBeenCalled();
});
