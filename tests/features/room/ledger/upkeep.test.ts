import { inArray, sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { newId } from "../../../../src/core/ids.ts";
import { jobs, roomEvents } from "../../../../src/db/schema.ts";
import { ledgerUpkeep } from "../../../../src/features/room/ledger/upkeep.ts";
import { sending } from "../events.ts";

const dayMs = 86_400_000;

async function kept() {
  const h = await sending();
  const [giveUp, forget] = ledgerUpkeep(h.services);
  if (!giveUp || !forget) throw new Error("There is no upkeep");
  return { ...h, giveUp, forget };
}

test("a pending event whose job failed for good is given up, once and with a word in the log", async () => {
  const h = await kept();
  for (const body of ["1", "2", "3"]) await h.post(body);
  const [failed, matched, waiting] = await h.rows();
  const ofTwo = inArray(jobs.key, [failed?.id ?? "", matched?.id ?? ""]);
  await h.db.update(jobs).set({ status: "failed", failedAt: new Date() }).where(ofTwo);
  await h.db
    .update(roomEvents)
    .set({ outcome: "no-match" })
    .where(inArray(roomEvents.id, [matched?.id ?? ""]));
  await h.giveUp();
  const reason = "The matcher broke off each time that it tried: the server's log says why";
  expect(await h.rows()).toMatchObject([
    { id: failed?.id, outcome: "matcher-failed", reason },
    { id: matched?.id, outcome: "no-match", reason: null },
    { id: waiting?.id, outcome: "pending", reason: null },
  ]);
  await h.clock.jump(61_000);
  await h.giveUp();
  const told = h.logs.filter((line) => line.includes("Events were given up"));
  expect(told.map((line) => JSON.parse(line))).toMatchObject([{ level: "warn", stranded: 1 }]);
});

test("events go after 30 days, in batches, and newer ones stay", async () => {
  const h = await kept();
  const { id: sourceId, agentId, organizationId } = h.source;
  const old = new Date(h.clock.now() - 30 * dayMs - 1);
  const row = { sourceId, agentId, organizationId, outcome: "no-match" as const };
  const rows = Array.from({ length: 1_500 }, () => ({ ...row, id: newId(), receivedAt: old }));
  await h.db.insert(roomEvents).values(rows);
  await h.db.insert(roomEvents).values({ ...row, id: newId(), receivedAt: new Date(h.clock.now() - 30 * dayMs) });
  await h.forget();
  expect(await h.db.$count(roomEvents)).toBe(501);
  await h.forget();
  expect(await h.db.$count(roomEvents)).toBe(1);
  // Within the hour nothing is looked for.
  await h.db.update(roomEvents).set({ receivedAt: sql`${old.toISOString()}` });
  await h.forget();
  expect(await h.db.$count(roomEvents)).toBe(1);
  await h.clock.jump(3_600_000);
  await h.forget();
  expect(await h.db.$count(roomEvents)).toBe(0);
});
