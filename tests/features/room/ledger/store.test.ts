import { asc, eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { newId } from "../../../../src/core/ids.ts";
import { sqlState } from "../../../../src/db/client.ts";
import { jobs, roomEvents } from "../../../../src/db/schema.ts";
import { matchJob, type NewEvent, storeEvent } from "../../../../src/features/room/ledger/store.ts";
import { harness } from "../../../harness.ts";
import { sourceOf } from "../events.ts";

async function ledger() {
  const h = await harness();
  const { slug } = await h.agent();
  const { db } = h.services.database;
  const { id: sourceId, agentId, organizationId } = await sourceOf(h, slug);
  const receivedAt = new Date(h.clock.now());
  const store = (more: Partial<NewEvent> = {}) =>
    h.services.database.transaction((tx) =>
      storeEvent(tx, { agentId, organizationId, sourceId, receivedAt, outcome: "pending", ...more }),
    );
  return { db, store, agentId, organizationId, receivedAt };
}

test("a pending event has a job of its own, another one has none", async () => {
  const { db, store, organizationId, receivedAt } = await ledger();
  const id = await store({ payload: { a: 1 } });
  const other = await store({ outcome: "room-off", reason: "The agent is inactive" });
  const rows = await db.select().from(roomEvents).orderBy(asc(roomEvents.id));
  expect(rows).toMatchObject([
    { id, payload: { a: 1 }, outcome: "pending", reason: null, replayOf: null, receivedAt, verdicts: [], attempts: 0 },
    { id: other, payload: null, outcome: "room-off", reason: "The agent is inactive" },
  ]);
  expect(await db.select().from(jobs).where(eq(jobs.kind, matchJob.kind))).toMatchObject([
    { key: id, organizationId, payload: { eventId: id } },
  ]);
});

test("any JSON can be stored, and null is not the same as none", async () => {
  const { db, store } = await ledger();
  for (const payload of [null, 0, "a\u0000\ud800", [], { "\u0000": ["\u0000"] }]) await store({ payload });
  await store();
  const stored = await db
    .select({ payload: roomEvents.payload, none: eq(roomEvents.payload, roomEvents.payload) })
    .from(roomEvents)
    .orderBy(asc(roomEvents.id));
  expect(stored.map(({ payload, none }) => [payload, none])).toEqual([
    ...[null, 0, "a\ufffd", [], { "": [""] }].map((payload) => [payload, true]),
    [null, null],
  ]);
});

test("of a deleted source nothing is stored", async () => {
  const { db, store } = await ledger();
  const refused = await store({ sourceId: newId(), payload: 1 }).catch((error: unknown) => error);
  expect(sqlState(refused)).toBe("23503");
  expect(await db.$count(roomEvents)).toBe(0);
  expect(await db.$count(jobs, eq(jobs.kind, matchJob.kind))).toBe(0);
});
