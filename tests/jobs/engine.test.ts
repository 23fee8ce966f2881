import { expect, test } from "vitest";
import { newId } from "../../src/core/ids.ts";
import { localNotify } from "../../src/core/notify.ts";
import { jobs } from "../../src/db/schema.ts";
import { enqueue } from "../../src/jobs/enqueue.ts";
import { silent } from "../embedded.ts";
import { harness } from "../harness.ts";
import { newJob } from "./jobs.ts";

test("the engine's upkeep looks after jobs, and leaves alone kinds that no worker here knows", async () => {
  const h = await harness();
  const { db } = h.services.database;
  const failed = (ms: number) => ({
    id: newId(),
    kind: "gone",
    status: "failed",
    attempts: 10,
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

test("a start along with other processes leaves them a lease's time to renew the leases of their jobs", async () => {
  const h = await harness();
  const { db } = h.services.database;
  // Its process may run it and be about to reach the database again after an outage. One more attempt would be too many.
  const job = { kind: "task.run", payload: { runId: newId() }, attempts: 1, maxAttempts: 1 };
  await db.insert(jobs).values({ ...job, lockedBy: newId(), lockedUntil: new Date(0) });
  const statusOf = async () => (await db.select().from(jobs))[0]?.status;
  await h.engine.boot({});
  await h.engine.tick();
  await h.clock.advance(29_000);
  await h.engine.tick();
  expect(await statusOf()).toBe("pending");
  await h.clock.advance(1_000);
  await h.engine.tick();
  expect(await statusOf()).toBe("failed");
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

test("a command leaves the jobs that it adds to the server, since it renews no leases", async () => {
  const h = await harness();
  const { db } = h.services.database;
  const operator = await h.engine.operator("apply");
  await enqueue(db, { ...newJob("task.run"), payload: { runId: newId() } });
  await h.engine.tick();
  expect(await db.select({ attempts: jobs.attempts, lockedBy: jobs.lockedBy }).from(jobs)).toEqual([
    { attempts: 0, lockedBy: null },
  ]);
  await operator.close();
});
