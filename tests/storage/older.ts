import { onTestFinished } from "vitest";
import { template } from "../../scripts/make-template.ts";
import { systemClock } from "../../src/adapters/node/clock.ts";
import { superviseDatabase } from "../../src/adapters/node/embedded/thread.ts";
import { readMigrations } from "../../src/adapters/node/shipped.ts";
import type { Database, Target } from "../../src/db/client.ts";
import { applyMigrations, type Migration, migrate, type RunText } from "../../src/db/migrate.ts";
import { openConnection } from "../../src/db/pool/open-connection.ts";
import { dialect } from "../database.ts";
import { silent } from "../embedded.ts";
import { poolOn } from "../fresh-database.ts";
import { dropDatabase, startPostgres, withDatabase } from "../real-postgres.ts";

/**
 * A database of the run's dialect that had the first so many migrations when `fill` put its rows into it, and was then
 * brought up to this release, as at a start. It goes when the test ends.
 */
export async function upgradedDatabase(migrations: number, fill: (run: RunText) => Promise<void>): Promise<Database> {
  const all = readMigrations();
  const older = all.slice(0, migrations);
  const target = dialect === "pglite" ? await olderEmbedded(older) : await olderPostgres(older);
  await connected(target, fill);
  await migrate(target, all, { clock: systemClock, timeoutMs: 10_000 });
  return poolOn(target, { max: dialect === "pglite" ? 1 : 4, deadlineMs: 30_000 });
}

async function olderEmbedded(migrations: readonly Migration[]): Promise<Target> {
  const { target, close } = await superviseDatabase({ directory: null, template: await template(migrations) }, silent);
  onTestFinished(close);
  return target;
}

async function olderPostgres(migrations: readonly Migration[]): Promise<Target> {
  const { url = "" } = (await startPostgres()) ?? {};
  const name = `older_${crypto.randomUUID().replaceAll("-", "")}`;
  await connected({ url }, (run) => run(`create database ${name} template template0 encoding 'UTF8'`));
  const target = { url: withDatabase(url, name) };
  onTestFinished(() => dropDatabase(target.url));
  await connected(target, (run) => applyMigrations(run, migrations));
  return target;
}

async function connected(target: Target, work: (run: RunText) => Promise<unknown>): Promise<void> {
  const connection = openConnection(target, { prepare: false, clock: systemClock });
  try {
    await work((text, parameters = []) => connection.run(text, parameters, "objects"));
  } finally {
    connection.destroy();
  }
}
