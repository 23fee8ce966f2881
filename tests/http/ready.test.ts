import { sql } from "drizzle-orm";
import { expect, test, vi } from "vitest";
import { installation } from "../../src/db/schema.ts";
import { dialect } from "../database.ts";
import { type Harness, harness } from "../harness.ts";

const ready = async ({ request }: Pick<Harness, "request">) => {
  const answer = await request("/ready");
  return [answer.status, await answer.json()];
};
/** A server whose installation has its row, as after a start. */
async function started() {
  const h = await harness();
  await h.services.database.db.insert(installation).values({});
  return h;
}

const yes = [200, { status: "ready" }];
const no = (status: string) => [503, { status }];

test("a server is ready once it wrote a row, without credentials", async () => {
  const h = await started();
  const version = () => h.services.database.db.select({ xmin: sql`xmin::text` }).from(installation);
  const before = await version();
  expect(await ready(h)).toEqual(yes);
  expect(await version()).not.toEqual(before);
});

test("any number of callers cause one write a second", async () => {
  const h = await harness();
  const writes = vi.spyOn(h.services.database.db, "update");
  const crowd = () => Promise.all(Array.from({ length: 50 }, () => ready(h)));
  expect(new Set((await crowd()).map(String)).size).toBe(1);
  await h.clock.advance(999);
  await crowd();
  expect(writes).toHaveBeenCalledTimes(1);
  await h.clock.advance(1);
  expect(await crowd()).toContainEqual(yes);
  expect(writes).toHaveBeenCalledTimes(2);
});

test("a write that hangs makes the server unready after two seconds, and is not followed by a second one", async () => {
  const h = await started();
  const { database } = h.services;
  const [locked, free] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = database.transaction(async (tx) => {
    await tx.select().from(installation).for("update");
    locked.resolve();
    await free.promise;
  });
  await locked.promise;
  const writes = vi.spyOn(database.db, "update");
  for (let asked = 0; asked < 3; asked += 1) {
    const state = ready(h);
    await vi.waitFor(() => expect(h.clock.waiting(2_000)).toBe(true));
    await h.clock.advance(2_000);
    expect(await state).toEqual(no("unavailable"));
  }
  expect(writes).toHaveBeenCalledTimes(1);
  free.resolve();
  await holding;
  await vi.waitFor(async () => {
    await h.clock.advance(1_000);
    expect(await ready(h)).toEqual(yes);
  });
  const said = h.logs.map((line) => JSON.parse(line).message).filter((message) => /^(?:Not ready|Ready)/.test(message));
  expect(said).toEqual(["Not ready: the database takes no writes", "Ready again: the database takes writes"]);
});

// On PostgreSQL the setting would hold for one connection of the pool.
test.runIf(dialect === "pglite")("a database that takes no writes makes the server unready", async () => {
  const h = await harness();
  const setReadOnly = (state: string) => h.services.database.query(`set default_transaction_read_only = ${state}`, []);
  await setReadOnly("on");
  expect(await ready(h)).toEqual(no("unavailable"));
  await setReadOnly("off");
  await h.clock.advance(1_000);
  expect(await ready(h)).toEqual(yes);
});

test("before the database is open nobody waits for the answer", async () => {
  const h = await harness();
  h.engine.holdUntil(new Promise(() => {}));
  expect(await ready(h)).toEqual(no("opening"));
});

test("a server that drains is not ready, and still works", async () => {
  const h = await harness();
  const headers = await h.as("viewer");
  const writes = vi.spyOn(h.services.database.db, "update");
  h.engine.drain();
  expect(await ready(h)).toEqual(no("stopping"));
  expect((await h.request("/health")).status).toBe(503);
  expect((await h.request("/api/me", { headers })).status).toBe(200);
  expect(writes).not.toHaveBeenCalled();
});
