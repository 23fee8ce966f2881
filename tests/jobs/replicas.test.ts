import { describe, expect, test } from "vitest";
import { localNotify } from "../../src/core/notify.ts";
import type { Notify } from "../../src/core/ports.ts";
import { silent } from "../embedded.ts";
import { jobHarness, stall } from "./jobs.ts";

/** Two workers that wake each other, with four slots each for slow jobs, and their notices. */
async function twoWorkers() {
  const told: string[] = [];
  const local = localNotify(silent);
  const notify: Notify = {
    ...local,
    publish(topic, key) {
      told.push(topic);
      local.publish(topic, key);
    },
  };
  const h = await jobHarness(undefined, notify);
  const [here, there] = [stall(), stall()];
  const kinds = ({ run }: typeof here) => ({ slow: { run, limit: 4 }, quick: async () => {} });
  const [one, two] = [h.worker(kinds(here)), h.worker(kinds(there))];
  let organizations = 0;
  /** Each for an organization of its own, so that no share limits them. */
  const enqueue = async (count: number) => {
    for (let n = 0; n < count; n += 1) {
      organizations += 1;
      const organizationId = `00000000-0000-7000-8000-${String(organizations).padStart(12, "0")}`;
      await h.enqueue("slow", {}, { organizationId });
    }
  };
  return { h, told, enqueue, here, there, one, two };
}

describe("jobs that a process has no slots for", () => {
  test("are begun by another one at once", async () => {
    const { enqueue, here, there, one, two } = await twoWorkers();
    await two.tick();
    await enqueue(6);
    await one.tick();
    expect(here.began).toHaveLength(4);
    await expect.poll(() => there.began).toHaveLength(2);
  });

  test("are begun there also when they come while all slots of their kind are taken", async () => {
    const { enqueue, there, here, one, two } = await twoWorkers();
    await two.tick();
    await enqueue(4);
    await one.tick();
    expect([here.began.length, there.began.length]).toEqual([4, 0]);
    await enqueue(1);
    one.wake();
    await expect.poll(() => there.began).toHaveLength(1);
  });

  test("are begun there also when only the share of their organization is taken", async () => {
    const { h, here, there, one, two } = await twoWorkers();
    await two.tick();
    for (let n = 0; n < 4; n += 1) await h.enqueue("slow");
    await one.tick();
    expect(here.began).toHaveLength(2);
    await expect.poll(() => there.began).toHaveLength(2);
  });

  test("wake processes without slots once, not on and on", async () => {
    const { h, told, enqueue, there, one, two } = await twoWorkers();
    await two.tick();
    await enqueue(9);
    await one.tick();
    await expect.poll(() => there.began).toHaveLength(4);
    const lookAgain = async () => {
      for (let n = 0; n < 3; n += 1) await Promise.all([one.tick(), two.tick()]);
    };
    await lookAgain();
    expect(told).toEqual(["work-due", "work-due"]);
    await h.clock.advance(1_000);
    await lookAgain();
    expect(told).toHaveLength(4);
  });

  test("that wait for others of their keys, or are due later, wake no worker", async () => {
    const { h, told, enqueue, one } = await twoWorkers();
    await h.enqueue("slow", {}, { key: "k" });
    await one.tick();
    await h.enqueue("slow", {}, { key: "k" });
    await h.enqueue("slow", {}, { runAt: h.at(5_000) });
    await enqueue(3);
    await one.tick();
    expect(told).toEqual([]);
  });
});

test("a worker hears others between its first tick and its stop only", async () => {
  const { enqueue, here, there, one, two } = await twoWorkers();
  await enqueue(6);
  await one.tick();
  await one.tick();
  expect([here.began.length, there.began.length]).toEqual([4, 0]);
  await two.tick();
  expect(there.began).toHaveLength(2);
  await two.stop(0);
  await enqueue(1);
  await one.tick();
  expect(there.began).toHaveLength(2);
});
