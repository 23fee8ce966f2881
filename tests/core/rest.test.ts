import { expect, test } from "vitest";
import { every } from "../../src/core/time/every.ts";
import { Rest } from "../../src/core/time/rest.ts";
import { TestClock } from "../clock.ts";

const hour = 60 * 60_000;

test("a work rests once it went well and is complete", async () => {
  const clock = new TestClock();
  const asked: number[] = [];
  const answers = [() => Promise.reject(new Error("away")), async () => false, async () => true, async () => true];
  const tick = every(clock, hour, async (now) => {
    asked.push(now);
    return (await answers.shift()?.()) ?? true;
  });
  await expect(tick()).rejects.toThrow("away");
  for (let times = 0; times < 4; times += 1) await tick();
  expect(asked).toHaveLength(3);
  await clock.jump(hour - 1);
  await tick();
  expect(asked).toHaveLength(3);
  await clock.jump(1);
  await tick();
  expect(asked).toHaveLength(4);
});

test("a rest gets no longer when the time is set back: it ends early, or in its time", async () => {
  const clock = new TestClock();
  const rest = new Rest(clock);
  expect(rest.isOver).toBe(true);
  rest.begin(hour);
  expect(rest.isOver).toBe(false);
  clock.setBack(1);
  expect(rest.isOver).toBe(true);
  rest.begin(hour);
  await clock.jump(hour / 2);
  clock.setBack(hour / 4);
  expect(rest.isOver).toBe(false);
  await clock.jump((3 * hour) / 4);
  expect(rest.isOver).toBe(true);
});

test("an endless rest lasts until the next one begins", async () => {
  const clock = new TestClock();
  const rest = new Rest(clock);
  rest.begin(Number.POSITIVE_INFINITY);
  clock.setBack(hour);
  await clock.jump(1_000 * hour);
  expect([rest.isOver, rest.isEndless]).toEqual([false, true]);
  rest.begin(hour);
  await clock.jump(hour);
  expect([rest.isOver, rest.isEndless]).toEqual([true, false]);
});
