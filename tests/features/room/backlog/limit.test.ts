import { afterAll, expect, test, vi } from "vitest";
import type { Database } from "../../../../src/db/client.ts";
import { eventBacklog } from "../../../../src/db/schema.ts";
import { openTestDatabase } from "../../../database.ts";
import { freshDatabase, poolOn } from "../../../fresh-database.ts";
import { startPostgres } from "../../../real-postgres.ts";
import { agentWithRoom, countsOf } from "./rooms.ts";

vi.setConfig({ testTimeout: 60_000 });

/** One session, as the embedded database has, can't prove the behaviour of several processes. */
const server = await startPostgres();
afterAll(() => server?.stop());

test.skipIf(!server)("of 500 events at once over two pools exactly 100 wait", async () => {
  const url = await freshDatabase(server);
  // A machine that is busy with other tests may take its time.
  const patient = { max: 20, deadlineMs: 50_000 };
  const pools: [Database, Database] = [poolOn({ url }, patient), poolOn({ url }, patient)];
  const { agentId, add } = await agentWithRoom(pools[0]);
  const added = await Promise.all(Array.from({ length: 500 }, (_, n) => add(undefined, n, pools[n % 2])));
  const count = (wanted: string) => added.filter(({ outcome }) => outcome === wanted).length;
  expect([count("backlog"), count("backlog-full")]).toEqual([100, 400]);
  expect(await countsOf(pools[1], agentId)).toMatchObject({ pendingCount: 100, pending: 100 });
});

test("an entry is made only in a Room that is on, and makes it due at once", async () => {
  const { database, close } = await openTestDatabase();
  try {
    const [on, off, none] = [
      await agentWithRoom(database),
      await agentWithRoom(database, { enabled: false }),
      await agentWithRoom(database, null),
    ];
    const now = Date.UTC(2026, 4, 1);
    expect(await on.add(now, null)).toEqual({ outcome: "backlog", backlogId: expect.any(String) });
    expect(await off.add(now)).toEqual({ outcome: "room-off" });
    expect(await none.add(now)).toEqual({ outcome: "room-off" });
    expect(await database.db.$count(eventBacklog)).toBe(1);
    expect((await countsOf(database, on.agentId)).room).toMatchObject({ pendingCount: 1, dueAt: new Date(now) });
    // A later event does not postpone what is due.
    await on.add(now + 60_000);
    expect((await countsOf(database, on.agentId)).room).toMatchObject({ pendingCount: 2, dueAt: new Date(now) });
  } finally {
    await close();
  }
});
