import { expect, test } from "vitest";
import { newId } from "../../src/core/ids.ts";
import { localNotify } from "../../src/core/notify.ts";
import { jobs } from "../../src/db/schema.ts";
import { enqueue } from "../../src/jobs/enqueue.ts";
import { silent } from "../embedded.ts";
import { harness } from "../harness.ts";
import { newJob } from "./jobs.ts";

test("the engine's upkeep looks after jobs, and leaves alone what nobody here can do", async () => {
  const h = await harness();
  const { db } = h.services.database;
  const failed = (ms: number) => ({
    ...{ id: newId(), kind: "gone", status: "failed", attempts: 10 },
    failedAt: new Date(h.clock.now() - ms),
  });
  const day = 24 * 60 * 60 * 1000;
  const [old, recent] = [failed(31 * day), failed(29 * day)];
  await db.insert(jobs).values([old, recent]);
  await enqueue(db, newJob("newer-release"));
  await h.engine.tick();
  const left = await db.select({ kind: jobs.kind, attempts: jobs.attempts }).from(jobs).orderBy(jobs.kind);
  expect(left).toEqual([
    { kind: "gone", attempts: 10 },
    { kind: "newer-release", attempts: 0 },
  ]);
});

test("an engine that stops disconnects from other replicas", async () => {
  let closed = 0;
  const close = async () => {
    closed += 1;
  };
  const h = await harness({ notify: { ...localNotify(silent), close } });
  await h.engine.tick();
  expect(closed).toBe(0);
  await h.engine.stop(0);
  expect(closed).toBe(1);
});
