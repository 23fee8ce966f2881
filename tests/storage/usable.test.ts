import { expect, onTestFinished, test } from "vitest";
import { EngineError } from "../../src/core/errors.ts";
import { type Database, openDatabase } from "../../src/db/client.ts";
import { Usable } from "../../src/db/pool/usable.ts";
import { TestClock } from "../clock.ts";
import { harness } from "../harness.ts";
import { onDatabase } from "./setup.ts";

const health = async ({ request }: Pick<Awaited<ReturnType<typeof harness>>, "request">) => {
  const answer = await request("/health");
  return [answer.status, ((await answer.json()) as { database: string }).database];
};

const write = "insert into throttles (key, count, resets_at) values ('a', 1, now()) on conflict do nothing";

test("health says when the server takes no writes, and until one succeeds, whatever is read meanwhile", async () => {
  const database = await onDatabase();
  const h = await harness({ database });
  expect(await health(h)).toEqual([200, "ready"]);
  const refused = database.transaction(async (tx) => {
    await tx.execute("set transaction read only");
    await tx.execute(write);
  });
  await expect(refused).rejects.toThrow("unavailable");
  expect(await health(h)).toEqual([200, "unavailable"]);
  await database.query("select 1", []);
  expect(await health(h)).toEqual([200, "unavailable"]);
  await database.query(write, []);
  expect(await health(h)).toEqual([200, "ready"]);
});

test("a statement of a caller's fault leaves it usable", async () => {
  const database = await onDatabase();
  await expect(database.query("select 1 / 0", [])).rejects.toThrow("division by zero");
  expect(database.isUsable()).toBe(true);
});

test("it is not usable from the first statement that found no server", async () => {
  const target = { url: "postgres://nobody@127.0.0.1:9/none" };
  const options = { max: 1, prepare: true, deadlineMs: 5_000, clock: new TestClock() };
  const database: Database = openDatabase(target, options);
  onTestFinished(() => database.close());
  await expect(database.query("select 1", [])).rejects.toThrow(EngineError);
  expect(database.isUsable()).toBe(false);
});

const failure = (code: string) => Object.assign(new Error(code), { code });

test.each([
  "57P01",
  "53300",
  "28P01",
  "3D000",
  "08006",
  "ECONNREFUSED",
])("%s is for want of a database, until a statement is answered", (code) => {
  const usable = new Usable();
  usable.failed(failure(code));
  expect(usable.value).toBe(false);
  usable.worked("select 1");
  expect(usable.value).toBe(true);
});

test("a refused write tells of the server, and an answered one alone of its end", () => {
  const usable = new Usable();
  usable.failed(failure("25006"));
  for (const text of ["select 1", "begin", "select * from updates"]) usable.worked(text);
  expect(usable.value).toBe(false);
  usable.worked("with one as (update turns set a = 1) select 1");
  expect(usable.value).toBe(true);
  usable.silent();
  usable.failed(failure("23505"));
  expect(usable.value).toBe(true);
});
