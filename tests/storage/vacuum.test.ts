import { expect, onTestFinished, test } from "vitest";
import { newId } from "../../src/core/ids.ts";
import type { Database } from "../../src/db/client.ts";
import { jobs } from "../../src/db/schema.ts";
import { commonLane } from "../../src/db/tables/work.ts";
import { vacuumWorn } from "../../src/db/vacuum.ts";
import { claim } from "../../src/jobs/claim.ts";
import { openTestDatabase } from "../database.ts";
import { harness } from "../harness.ts";

/** Has the database count by now what it would count within a second. */
const countNow = (database: Database) => database.query("select pg_stat_force_next_flush()", []);

/** The embedded database, which nothing else vacuums. */
async function embedded() {
  const { database, close } = await openTestDatabase({ dialect: "pglite" });
  onTestFinished(close);
  // What was deleted before would be counted after it otherwise.
  await countNow(database);
  await database.query("vacuum", []);
  const wear = async (rows: number) => {
    await database.query(
      "insert into jobs (id, kind, key) select gen_random_uuid(), 'wear', n::text from generate_series(1, $1::int) n",
      [rows],
    );
    await database.query("delete from jobs where kind = 'wear'", []);
    await countNow(database);
  };
  const dead = async () => {
    const [row] = await database.query<{ n: number }>("select pg_stat_get_dead_tuples('jobs'::regclass)::int as n", []);
    return row?.n;
  };
  return { database, wear, dead };
}

const [quiet, busy] = [() => true, () => false];

test("a table with many dead rows is vacuumed in a quiet moment, and one with few is left alone", async () => {
  const { database, wear, dead } = await embedded();
  await wear(900);
  await vacuumWorn(database, quiet);
  expect(await dead()).toBe(900);
  await wear(200);
  await vacuumWorn(database, busy);
  expect(await dead()).toBe(1_100);
  await vacuumWorn(database, quiet);
  expect(await dead()).toBe(0);
});

test("a moment that never comes is not waited for", async () => {
  const { database, wear, dead } = await embedded();
  await wear(5_000);
  await vacuumWorn(database, busy);
  expect(await dead()).toBe(0);
});

test("the more rows a table has the more of them may be dead", async () => {
  const { database, wear, dead } = await embedded();
  await database.query(
    "insert into jobs (id, kind) select gen_random_uuid(), 'keep' from generate_series(1, 6000)",
    [],
  );
  await wear(1_500);
  await vacuumWorn(database, quiet);
  expect(await dead()).toBe(1_500);
  await wear(200);
  await vacuumWorn(database, quiet);
  expect(await dead()).toBe(0);
});

test("the engine's upkeep looks after a database that is its own", async () => {
  const { database, wear, dead } = await embedded();
  const h = await harness({ database, soleProcess: true });
  await wear(1_100);
  await h.engine.closeRevoked();
  expect(await dead()).toBe(0);
});

test("a claim whose plan was made while the table was empty and vacuumed goes along the indexes once it has filled", async () => {
  const { database } = await embedded();
  const slots = [{ kind: "count", free: 32, share: 32, after: commonLane }];
  const asked = () => ({ slots, running: [], takesOver: true, lock: newId(), now: Date.now() });
  for (let n = 0; n < 8; n += 1) await claim(database, asked());
  await database.query(
    "insert into jobs (id, kind) select gen_random_uuid(), 'count' from generate_series(1, 6400)",
    [],
  );
  const readBefore = await rowsRead();
  expect((await claim(database, asked())).claimed).toHaveLength(32);
  expect((await rowsRead()) - readBefore).toBe(0);
  await database.db.delete(jobs);

  /** Rows of the table that were read from one end to the other. */
  async function rowsRead(): Promise<number> {
    await countNow(database);
    const text = "select pg_stat_get_tuples_returned('jobs'::regclass)::int as n";
    return (await database.query<{ n: number }>(text, []))[0]?.n ?? 0;
  }
});
