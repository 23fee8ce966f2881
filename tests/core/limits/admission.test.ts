import { expect, test } from "vitest";
import { leastSlots as places } from "../../../src/core/limits/adaptive-limit.ts";
import { Admission, Overloaded, type Share } from "../../../src/core/limits/admission.ts";
import { loopDelay } from "../../../src/core/limits/loop-delay.ts";
import type { Log } from "../../../src/core/ports.ts";
import { TestClock } from "../../clock.ts";

const settle = () => new Promise((resolve) => setImmediate(resolve));

/** An admission whose event loop is as late as the test says, and calls that the test ends. */
function admission() {
  const clock = new TestClock();
  const lines: { level: string; message: string; refused?: unknown }[] = [];
  const line = (level: string) => (fields: Record<string, unknown>, message: string) => {
    lines.push({ level, message, ...fields });
  };
  const log: Log = {
    debug: line("debug"),
    info: line("info"),
    warn: line("warn"),
    error: line("error"),
    child: () => log,
  };
  const state = { lateMs: 0, random: 0 };
  const admission = new Admission({ clock, log, loopDelay: () => state.lateMs, random: () => state.random });
  const begun: string[] = [];
  const refused: { name: string; error: unknown }[] = [];
  const ends: (() => void)[] = [];
  const call = (name: string) => {
    const work = () => {
      begun.push(name);
      return new Promise<void>((resolve) => ends.push(resolve));
    };
    void admission.during(name.split("/") as unknown as Share, work).catch((error) => refused.push({ name, error }));
  };
  /** Has the loop late for so long that only a few permits are left. */
  const overload = async () => {
    state.lateMs = 100;
    for (let n = 0; n < 20; n += 1) {
      await admission.during(["", "", ""], async () => {});
      await clock.advance(50);
    }
  };
  const endOne = async () => {
    ends.shift()?.();
    await settle();
  };
  return { admission, clock, state, lines, begun, refused, call, overload, endOne };
}

/** The number of callers that may wait when few are served, and the number once that has lasted. */
const [waiting, leastWaiting] = [256, 128];

test("a crowd that comes at once is refused nothing while nothing is late", async () => {
  const { begun, refused, call, endOne } = admission();
  for (let n = 0; n < 500; n += 1) call("a/x/1");
  await settle();
  expect(begun).toHaveLength(32);
  for (let n = 0; n < 500; n += 1) await endOne();
  expect(begun).toHaveLength(500);
  expect(refused).toEqual([]);
});

test("in an overload a few calls run, some wait, and the others are refused at once with a time to return", async () => {
  const { admission: admitting, begun, refused, call, overload, endOne } = admission();
  await overload();
  for (let n = 0; n < places + waiting + 4; n += 1) call("a/x/1");
  await settle();
  expect(begun).toHaveLength(places);
  expect(refused).toHaveLength(4);
  const error = refused[0]?.error;
  expect(error).toBeInstanceOf(Overloaded);
  expect(error).toMatchObject({ status: 503, retryAfterSeconds: 1 });
  // The check made before a call costs anything.
  expect(() => admitting.requireRoom(["a", "x", "1"])).toThrow("The server is overloaded: try again in 1 second");
  expect(() => admitting.requireRoom(["b", "x", "1"])).not.toThrow();
  await endOne();
  expect(begun).toHaveLength(places + 1);
});

test("another organization gets the next permit, and the flooding one gives way", async () => {
  const { begun, refused, call, overload, endOne } = admission();
  await overload();
  for (let n = 0; n < places + waiting; n += 1) call("a/x/1");
  call("b/y/1");
  await settle();
  expect(refused.map(({ name }) => name)).toEqual(["a/x/1"]);
  await endOne();
  expect(begun.at(-1)).toBe("b/y/1");
});

test("callers already waiting when the overload has lasted keep waiting, and new ones are refused at once", async () => {
  const { begun, refused, call, clock, overload, endOne } = admission();
  await overload();
  for (let n = 0; n < places + waiting; n += 1) call("a/x/1");
  await settle();
  await clock.advance(1_000);
  call("a/x/1");
  await settle();
  expect([begun.length, refused.length]).toEqual([places, 1]);
  for (let n = 0; n < places + waiting; n += 1) await endOne();
  expect([begun.length, refused.length]).toEqual([places + waiting, 1]);
});

test("of more than a crowd, which came while nothing was late, the newest are refused once it is", async () => {
  const { begun, refused, call, clock, state, endOne } = admission();
  for (let n = 0; n < 500; n += 1) call("a/x/1");
  await settle();
  expect([begun.length, refused.length]).toEqual([32, 0]);
  state.lateMs = 100;
  await clock.advance(100);
  await endOne();
  expect([begun.length, refused.length]).toEqual([32, 500 - 32 - waiting]);
});

test("once some of a crowd got places, as many wait as get theirs within a second at that pace", async () => {
  const { begun, refused, call, clock, overload, endOne } = admission();
  await overload();
  const few = places + leastWaiting + 20;
  for (let n = 0; n < few; n += 1) call("a/x/1");
  await settle();
  for (let n = 0; n < 16; n += 1) {
    await clock.advance(10);
    await endOne();
  }
  expect([begun.length, refused.length]).toEqual([places + 16, 0]);
  // A hundred a second: fewer than may always wait.
  for (let n = 0; n < 10; n += 1) call("a/x/1");
  await settle();
  expect(few - begun.length).toBe(leastWaiting + 4);
  expect(refused).toHaveLength(10);
});

test("in an overload that has lasted, only as many wait as soon get a permit", async () => {
  const { admission: admitting, call, clock, state, overload, endOne } = admission();
  await overload();
  for (let n = 0; n < places + waiting + 1; n += 1) call("a/x/1");
  await clock.advance(1_000);
  for (let n = 0; n < places + waiting; n += 1) await endOne();
  expect(admitting.figures).toMatchObject({ busy: 0, waiting: 0 });
  state.lateMs = 0;
  for (let n = 0; n < places + waiting; n += 1) call("a/x/1");
  expect(admitting.figures.waiting).toBe(leastWaiting);
});

test("a caller that gets no permit within two seconds is refused", async () => {
  const { begun, refused, call, clock, overload } = admission();
  await overload();
  for (let n = 0; n < places + 1; n += 1) call("a/x/1");
  await settle();
  expect([begun.length, refused.length]).toEqual([places, 0]);
  await clock.advance(2_000);
  expect([begun.length, refused.length]).toEqual([places, 1]);
});

test("work that can't be refused uses permits of new work, but not the last ones", async () => {
  const { admission: admitting, begun, call } = admission();
  const ends: (() => void)[] = [];
  for (let n = 0; n < 30; n += 1) void admitting.always(() => new Promise<void>((resolve) => ends.push(resolve)));
  for (let n = 0; n < 20; n += 1) call("a/x/1");
  await settle();
  expect([ends.length, begun.length]).toEqual([30, places]);
  for (const end of ends) end();
  await settle();
  expect(begun).toHaveLength(20);
});

test("refused callers are told to return over as many seconds as serving them takes", async () => {
  const { refused, call, clock, state, overload, endOne } = admission();
  await overload();
  state.random = 0.999;
  for (let n = 0; n < 200; n += 1) {
    for (let m = 0; m < 10; m += 1) call("a/x/1");
    await endOne();
    await clock.advance(50);
  }
  const { error } = refused.at(-1) ?? {};
  const seconds = (error as Overloaded).retryAfterSeconds;
  // Nine out of ten are refused.
  expect(seconds).toBeGreaterThanOrEqual(8);
  expect(seconds).toBeLessThanOrEqual(10);
});

test("the log says once that an overload began, and once that it is over, with the count", async () => {
  const { lines, call, clock, overload } = admission();
  await overload();
  for (let n = 0; n < places + waiting + 20; n += 1) call("a/x/1");
  await settle();
  expect(lines.map(({ level, message }) => `${level}: ${message}`)).toEqual(["warn: Overloaded: calls are refused"]);
  await clock.advance(900);
  call("a/x/1");
  await clock.advance(4_900);
  expect(lines).toHaveLength(1);
  await clock.advance(5_000);
  expect(lines.slice(1)).toEqual([expect.objectContaining({ level: "info", message: "No longer overloaded" })]);
  expect(lines[1]?.refused).toBeGreaterThanOrEqual(20);
});

test("a timer that fires late shows how late the event loop is, and no timer runs without callers", async () => {
  let now = 0;
  const timers: (() => void)[] = [];
  const clock = {
    now: () => now,
    after: (_ms: number, fn: () => void) => {
      timers.push(fn);
      return () => {};
    },
  };
  const delay = loopDelay(clock);
  expect(delay()).toBe(0);
  expect(timers).toHaveLength(1);
  // Not fired yet though due: the loop is busy now.
  now = 410;
  expect(delay()).toBe(100);
  timers.shift()?.();
  expect([delay(), timers.length]).toEqual([100, 1]);
  now = 420;
  timers.shift()?.();
  expect([delay(), timers.length]).toEqual([75, 1]);
  timers.shift()?.();
  now = 1_000;
  expect(delay()).toBe(0);
});
