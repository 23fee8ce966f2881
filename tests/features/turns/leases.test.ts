import { expect, test } from "vitest";
import { Leases } from "../../../src/features/turns/place/leases.ts";
import { Heartbeat } from "../../../src/jobs/heartbeat.ts";
import { TestClock } from "../../clock.ts";
import { harness } from "../../harness.ts";

test("a statement about leases that loses a deadlock is repeated", async () => {
  const { database, meters } = (await harness()).services;
  let lost = 0;
  const query: typeof database.query = (...statement) => {
    if (lost % 2 === 0) {
      lost += 1;
      return Promise.reject(Object.assign(new Error("deadlock detected"), { code: "40P01" }));
    }
    lost += 1;
    return database.query(...statement);
  };
  const clock = new TestClock();
  const leases = new Leases({ database: { ...database, query }, clock, meters }, new Heartbeat({ clock }));
  const turnId = "00000000-0000-4000-8000-000000000001";
  expect(await leases.closeLost()).toBe(0);
  await expect(leases.promote(turnId)).rejects.toMatchObject({ code: "unavailable" });
  expect(lost).toBe(4);
});
