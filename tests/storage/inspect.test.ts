import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/adapters/node/clock.ts";
import { readMigrations } from "../../src/adapters/node/shipped.ts";
import { inspectSchema } from "../../src/db/migrate.ts";
import { startEmbedded } from "../embedded.ts";

test("a look at the schema counts what is missing, refuses a newer one, and changes nothing", async () => {
  const { target, close } = await startEmbedded();
  onTestFinished(close);
  const known = readMigrations();
  const look = (migrations: typeof known) => inspectSchema(target, migrations, { clock: systemClock, timeoutMs: 5000 });
  const next = { sql: ["create table later (id int)"], folderMillis: 9e12, hash: "later" };
  expect(await look(known)).toEqual({ version: expect.any(Number), pending: 0 });
  expect(await look([...known, next])).toMatchObject({ pending: 1 });
  expect(await look([...known, next])).toMatchObject({ pending: 1 });
  await expect(look(known.slice(1))).rejects.toThrow("belongs to a newer release");
});
