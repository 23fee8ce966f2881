import { describe, expect, test } from "vitest";
import { Heartbeat, leaseMs } from "../../src/jobs/heartbeat.ts";
import { TestClock } from "../clock.ts";

const away = new Error("The database is away");

/** A heartbeat of one kind of work. Its renewals succeed, fail, or last until the test ends them. */
function heartbeat() {
  const clock = new TestClock();
  const made = new Heartbeat({ clock });
  let renew = async () => {};
  made.add(() => renew());
  return {
    clock,
    heartbeat: made,
    goWell: () => {
      renew = async () => {};
    },
    fail: () => {
      renew = () => Promise.reject(away);
    },
    hang: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      renew = () => promise;
      return resolve;
    },
  };
}

type Case = ReturnType<typeof heartbeat>;

const outage = async ({ heartbeat, clock, fail, goWell }: Case, ms: number) => {
  fail();
  for (let passed = 0; passed < ms; passed += 5_000) {
    await expect(heartbeat.beat()).rejects.toBe(away);
    await clock.jump(Math.min(5_000, ms - passed));
  }
  goWell();
};

const slow = async ({ heartbeat, clock, hang, goWell }: Case, ms: number) => {
  const end = hang();
  const beating = Promise.allSettled([heartbeat.beat()]);
  await clock.jump(ms);
  end();
  await beating;
  goWell();
};

describe("leases that ran out prove that their processes are gone", () => {
  test.each<[string, boolean, (at: Case) => Promise<unknown>]>([
    ["before the first heartbeat of a command", true, async () => {}],
    ["right after a start beside others", false, async ({ heartbeat }) => heartbeat.waitForOthers()],
    [
      "a moment before the others had a lease's time",
      false,
      async ({ heartbeat, clock }) => {
        heartbeat.waitForOthers();
        await clock.jump(leaseMs - 1);
      },
    ],
    [
      "once the others had a lease's time",
      true,
      async ({ heartbeat, clock }) => {
        heartbeat.waitForOthers();
        await clock.jump(leaseMs);
        await heartbeat.beat();
      },
    ],
    ["during an outage of 29 seconds", false, (at) => outage(at, 29_000)],
    ["during an outage of 31 seconds, however long it lasts", false, (at) => outage(at, 31_000)],
    [
      "right after an outage",
      false,
      async (at) => {
        await outage(at, 31_000);
        await at.heartbeat.beat();
        await at.clock.jump(leaseMs - 1);
        await at.heartbeat.beat();
      },
    ],
    [
      "a lease's time after an outage",
      true,
      async (at) => {
        await outage(at, 31_000);
        await at.heartbeat.beat();
        await at.clock.jump(leaseMs);
        await at.heartbeat.beat();
      },
    ],
    [
      "a lease's time after an outage, also when the time was set back by a day",
      true,
      async (at) => {
        await outage(at, 31_000);
        await at.heartbeat.beat();
        at.clock.setBack(24 * 60 * 60_000);
        await at.clock.jump(leaseMs);
      },
    ],
    ["after a heartbeat of less than 10 seconds", true, (at) => slow(at, 9_999)],
    ["after one that took longer", false, (at) => slow(at, 10_000)],
    [
      "while a heartbeat hangs for longer",
      false,
      async ({ heartbeat, clock, hang }) => {
        hang();
        heartbeat.beat().catch(() => {});
        await clock.jump(10_000);
      },
    ],
  ])("%s: %s", async (_when, expected, pass) => {
    const at = heartbeat();
    await pass(at);
    expect(at.heartbeat.mayTakeOver).toBe(expected);
  });
});

test("a renewal that loses a deadlock is repeated, and is no outage", async () => {
  const clock = new TestClock();
  const made = new Heartbeat({ clock });
  let times = 0;
  made.add(async () => {
    times += 1;
    if (times === 1) throw Object.assign(new Error("deadlock detected"), { code: "40P01" });
  });
  await made.beat();
  expect([times, made.mayTakeOver]).toEqual([2, true]);
});

test("a kind of work whose renewal fails doesn't keep the other kinds from renewing their leases", async () => {
  const { heartbeat: made, fail } = heartbeat();
  const renewed: string[] = [];
  made.add(async () => void renewed.push("other"));
  fail();
  await expect(made.beat()).rejects.toBe(away);
  expect(renewed).toEqual(["other"]);
});

test("a kind of work whose renewal hangs doesn't keep the others from renewing, and is not renewed twice meanwhile", async () => {
  const { clock, heartbeat: made, hang } = heartbeat();
  const renewed: string[] = [];
  made.add(async () => void renewed.push("other"));
  const end = hang();
  for (let times = 1; times <= 3; times += 1) {
    const beating = expect(made.beat()).rejects.toThrow("not renewed within 10 seconds");
    await clock.jump(10_000);
    await beating;
  }
  expect([renewed.length, made.mayTakeOver]).toEqual([3, false]);
  end();
  await made.beat();
  await clock.jump(leaseMs);
  expect(made.mayTakeOver).toBe(true);
});
