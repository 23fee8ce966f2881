import { expect, test } from "vitest";
import { Leases } from "../../../src/features/turns/place/leases.ts";
import { TestClock } from "../../clock.ts";
import { harness } from "../../harness.ts";

test("a statement about leases that loses a deadlock is repeated", async () => {
  const { database } = (await harness()).services;
  let lost = 0;
  const query: typeof database.query = (...statement) => {
    if (lost % 2 === 0) {
      lost += 1;
      return Promise.reject(Object.assign(new Error("deadlock detected"), { code: "40P01" }));
    }
    lost += 1;
    return database.query(...statement);
  };
  const leases = new Leases({ database: { ...database, query }, clock: new TestClock() });
  const turnId = "00000000-0000-4000-8000-000000000001";
  expect(await leases.renew([turnId])).toEqual(new Map());
  expect(await leases.closeFormer()).toBe(0);
  await expect(leases.promote(turnId)).rejects.toMatchObject({ code: "unavailable" });
  expect(lost).toBe(6);
});

test("after an outage it leaves the turns of others alone for a lease's time, also when the time is set back", async () => {
  const { database } = (await harness()).services;
  const judged: unknown[] = [];
  let away = true;
  const query: typeof database.query = (text, parameters) => {
    if (away) return Promise.reject(new Error("The database is away"));
    judged.push(parameters[1]);
    return database.query(text, parameters);
  };
  const clock = new TestClock();
  const leases = new Leases({ database: { ...database, query }, clock });
  await expect(leases.renew([])).rejects.toThrow("The database is away");
  away = false;
  await leases.closeLost();
  await leases.renew([]);
  await leases.closeLost();
  clock.setBack(24 * 60 * 60_000);
  await clock.jump(30_000);
  await leases.closeLost();
  expect(judged.filter((value) => typeof value === "boolean")).toEqual([false, false, true]);
});
