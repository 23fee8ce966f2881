import { sql } from "drizzle-orm";
import { afterAll, expect, onTestFinished, type TestContext, test } from "vitest";
import type { StartError } from "../../src/core/errors.ts";
import { pgBouncer, startPgBouncer } from "../pg-bouncer.ts";
import { startThrowaway } from "../real-postgres.ts";
import { needPrograms, skipHere } from "../skip.ts";
import { open } from "./setup.ts";

const server = await startThrowaway();
afterAll(() => server?.stop());

/** The address of the server behind a PgBouncer. */
async function pooled(context: Pick<TestContext, "skip">, more?: string): Promise<string> {
  if (!server) skipHere(context, "there is no PostgreSQL for this platform");
  needPrograms(context, pgBouncer);
  return (await startPgBouncer(server.url, more)).url;
}

test("behind PgBouncer, set up as the page says, all works and statements keep their deadline", async (context) => {
  const url = await pooled(context);
  const { database, close } = await open({ DATABASE_URL: url, DATABASE_PREPARE: "false" });
  onTestFinished(close);
  const insert = "insert into organizations (id, slug, name) values (gen_random_uuid(), $1, '') returning slug";
  const slugs = Array.from({ length: 40 }, (_, index) => `s${index}`);
  const rows = await Promise.all(slugs.map((slug) => database.query<{ slug: string }>(insert, [slug])));
  expect(rows.flat().map(({ slug }) => slug)).toEqual(slugs);
  await database.transaction(async (tx) => {
    await tx.execute(sql`update organizations set name = 'one'`);
    expect(await tx.execute(sql`show statement_timeout`)).toEqual([{ statement_timeout: "13500ms" }]);
  });
  expect(await database.query("show statement_timeout", [])).toEqual([{ statement_timeout: "13500ms" }]);
  expect(await database.query("select distinct name from organizations", [])).toEqual([{ name: "one" }]);
});

test("a PgBouncer that hides what it drops is refused, with the setting to change", async (context) => {
  const dropped =
    "bytea_output,default_transaction_isolation,search_path,row_security,array_nulls,transform_null_equals,extra_float_digits,IntervalStyle,lock_timeout,statement_timeout";
  const url = await pooled(context, `ignore_startup_parameters = ${dropped}\n`);
  const refused = open({ DATABASE_URL: url }).catch((error: StartError) => error.message);
  expect(await refused).toMatch(/ignores the settings of sessions: set DATABASE_PREPARE=false/);
});
