import { asc, eq, inArray, type SQL, sql } from "drizzle-orm";
import fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
import { newId } from "../../../../src/core/ids.ts";
import type { Database } from "../../../../src/db/client.ts";
import { backlogStatuses, eventBacklog, rooms } from "../../../../src/db/schema.ts";
import { settleDueAt } from "../../../../src/features/room/backlog/settle.ts";
import { type BacklogStatus, changeEntries, type EntryChange } from "../../../../src/features/room/backlog/status.ts";
import { openTestDatabase } from "../../../database.ts";
import { agentWithRoom, countsOf, start } from "./rooms.ts";

vi.setConfig({ testTimeout: 120_000 });

async function open(): Promise<Database> {
  const { database, close } = await openTestDatabase();
  onTestFinished(close);
  return database;
}

const minute = 60_000;

function changeTo(status: BacklogStatus, notBefore: number | null = null): EntryChange {
  if (status === "pending") return { status, notBefore: notBefore === null ? null : new Date(notBefore) };
  return status === "processing" ? { status, claim: newId(), attempts: sql`${eventBacklog.attempts} + 1` } : { status };
}

const step = fc.oneof(
  fc.record({ kind: fc.constant("add" as const), many: fc.integer({ min: 1, max: 12 }) }),
  fc.record({
    kind: fc.constant("change" as const),
    from: fc.subarray([...backlogStatuses], { minLength: 1 }),
    to: fc.constantFrom(...backlogStatuses),
    /** The number of entries with the status that are skipped. */
    skip: fc.integer({ min: 0, max: 4 }),
    many: fc.integer({ min: 1, max: 20 }),
    notBefore: fc.option(fc.integer({ min: 0, max: 100 })),
    fails: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("prompt" as const), prompt: fc.constantFrom("", "Look after the shop") }),
);

test("whatever becomes of entries, the counter is their number, and the Room is due with the first of them", async () => {
  const database = await open();
  const property = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 15 }), async (steps) => {
    const { agentId, add } = await agentWithRoom(database, { evalIntervalMinutes: 30 });
    const others = await agentWithRoom(database);
    await others.add();
    for (const [index, one] of steps.entries()) {
      const now = start + index * minute;
      if (one.kind === "add") for (let n = 0; n < one.many; n += 1) await add(now);
      else if (one.kind === "prompt") {
        await database.transaction(async (tx) => {
          await tx.update(rooms).set({ prompt: one.prompt }).where(eq(rooms.agentId, agentId));
          await settleDueAt(tx, agentId, now);
        });
      } else {
        const some = database.db
          .select({ id: eventBacklog.id })
          .from(eventBacklog)
          .where(sql`${eventBacklog.agentId} = ${agentId} and ${inArray(eventBacklog.status, one.from)}`)
          .orderBy(asc(eventBacklog.id))
          .offset(one.skip)
          .limit(one.many);
        const ids: string[] = (await some).map(({ id }) => id);
        const where: SQL = inArray(eventBacklog.id, ids);
        const notBefore = one.notBefore === null ? null : start + one.notBefore * minute;
        const done = database.transaction(async (tx) => {
          const rows = await changeEntries(tx, { agentId, now }, where, changeTo(one.to, notBefore));
          expect(rows.map(({ id }) => id).sort()).toEqual(ids.sort());
          if (one.fails) throw new Error("rolled back");
        });
        await done.catch((error: Error) => expect(error.message).toBe("rolled back"));
      }
      await expectSettled(database, agentId, now);
    }
    expect(await countsOf(database, others.agentId)).toMatchObject({ pendingCount: 1, pending: 1 });
  });
  await fc.assert(property, { numRuns: 15 });
});

/** An entry that is due already may leave `dueAt` at the time of its settlement. */
async function expectSettled(database: Database, agentId: string, now: number): Promise<void> {
  const { room, pendingCount, pending } = await countsOf(database, agentId);
  expect(pendingCount).toBe(pending);
  const rows = await database.db.select().from(eventBacklog).where(eq(eventBacklog.agentId, agentId));
  const waiting = rows.filter(({ status }) => status === "pending").map(({ notBefore }) => notBefore?.getTime() ?? now);
  const proactive = room?.prompt ? [start + 30 * minute] : [];
  const expected = Math.max(now, Math.min(...waiting, ...proactive));
  const dueAt = Math.max(now, room?.dueAt?.getTime() ?? Number.POSITIVE_INFINITY);
  if (rows.some(({ status }) => status === "processing")) {
    expect(dueAt).toBeLessThanOrEqual(Math.min(expected, now + 10 * minute));
  } else expect(dueAt).toBe(expected);
}

test("a status brings the columns along that belong to it", async () => {
  const database = await open();
  const { agentId, add } = await agentWithRoom(database);
  await add();
  const change = async (change: EntryChange, now = start) =>
    (await database.transaction((tx) => changeEntries(tx, { agentId, now }, undefined, change)))[0];
  const claim = newId();
  const open_ = { claim: null, notBefore: null, completedAt: null };
  const claimed = await change({ status: "processing", claim, attempts: sql`${eventBacklog.attempts} + 1` });
  expect(claimed).toMatchObject({ ...open_, claim, attempts: 1, rawPayload: { order: 1 } });
  const later = new Date(start + minute);
  const waits = await change({ status: "pending", notBefore: later, error: "It failed" });
  expect(waits).toMatchObject({ ...open_, notBefore: later, attempts: 1, error: "It failed" });
  expect((await countsOf(database, agentId)).room?.dueAt).toEqual(later);
  const done = await change({ status: "completed", reactNotes: "Sent it", error: null }, start + 5);
  expect(done).toMatchObject({ ...open_, completedAt: new Date(start + 5), reactNotes: "Sent it", error: null });
  expect((await countsOf(database, agentId)).room?.dueAt).toBe(null);
});

test("a Room whose entries are being worked on falls due again, should that work be lost", async () => {
  const database = await open();
  const { agentId, add } = await agentWithRoom(database);
  await add();
  await database.transaction((tx) => changeEntries(tx, { agentId, now: start }, undefined, changeTo("processing")));
  expect((await countsOf(database, agentId)).room?.dueAt).toEqual(new Date(start + 10 * minute));
});

test("a Room is due for a turn of its own by its last one, with a prompt and an interval", async () => {
  const database = await open();
  const dueAt = async (row: Partial<typeof rooms.$inferInsert>) => {
    const { agentId } = await agentWithRoom(database, row);
    await database.transaction((tx) => settleDueAt(tx, agentId, start + 7 * minute));
    return (await countsOf(database, agentId)).room?.dueAt?.getTime() ?? null;
  };
  expect(await dueAt({ prompt: "", evalIntervalMinutes: 5 })).toBe(null);
  expect(await dueAt({ prompt: "Look", evalIntervalMinutes: 0 })).toBe(null);
  expect(await dueAt({ prompt: "Look", evalIntervalMinutes: 5 })).toBe(start + 5 * minute);
  const lastEvaluatedAt = new Date(start + 6 * minute);
  expect(await dueAt({ prompt: "Look", evalIntervalMinutes: 5, lastEvaluatedAt })).toBe(start + 11 * minute);
  expect(await dueAt({ prompt: "Look", evalIntervalMinutes: 10_080, lastEvaluatedAt })).toBe(start + 10_086 * minute);
});
