// Makes dist/template.tar.gz: an embedded database with the migrations applied, for a first start.
import { createHash, randomUUID } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PGlite } from "@electric-sql/pglite";
import manifest from "../package.json" with { type: "json" };
import { initDbStartParams, startParams } from "../src/adapters/node/embedded/postgres.ts";
import { readMigrations } from "../src/adapters/node/shipped.ts";
import { applyMigrations, type Migration } from "../src/db/migrate.ts";

const path = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url));

/**
 * The template's file for these migrations, all by default. Made only if no earlier call had the same migrations,
 * database version and version of this file.
 */
export async function template(migrations: readonly Migration[] = readMigrations()): Promise<string> {
  const digest = createHash("sha256").update(manifest.dependencies["@electric-sql/pglite"]);
  for (const { hash } of migrations) digest.update(hash);
  digest.update(readFileSync(fileURLToPath(import.meta.url))).update(initDbStartParams.join());
  const folder = path("node_modules/.cache/agent-engine");
  const file = `${folder}/template-${digest.digest("hex").slice(0, 16)}.tar.gz`;
  if (!existsSync(file)) {
    mkdirSync(folder, { recursive: true });
    const draft = `${file}.${randomUUID()}`;
    writeFileSync(draft, await make(migrations));
    renameSync(draft, file);
  }
  return file;
}

async function make(migrations: readonly Migration[]): Promise<Uint8Array> {
  const dataDir = mkdtempSync(join(tmpdir(), "template-"));
  try {
    // Stores no part of the log for reuse, since a first start would have to write it.
    const smallLog = ["min_wal_size=2MB", "max_wal_size=2MB"].flatMap((setting) => ["-c", setting]);
    const database = await PGlite.create({
      dataDir,
      startParams: [...startParams, ...smallLog],
      initDbStartParams: [...initDbStartParams, ...smallLog],
    });
    await applyMigrations(async (text, parameters) => {
      if (parameters) return (await database.query(text, [...parameters])).rows;
      return (await database.exec(text)).at(-1)?.rows ?? [];
    }, migrations);
    // No other database is ever created, and these two are half of all files.
    await database.exec("update pg_database set datistemplate = false where datname <> current_database()");
    for (const name of ["template0", "template1"]) await database.exec(`drop database ${name}`);
    for (let time = 0; time < 3; time += 1) await database.exec("checkpoint");
    await database.close();
    // The files are read after PostgreSQL has closed them cleanly, so that a first start has nothing to recover.
    const dump = await new PGlite({ dataDir, noInitDb: true }).dumpDataDir("gzip");
    return new Uint8Array(await dump.arrayBuffer());
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  mkdirSync(path("dist"), { recursive: true });
  copyFileSync(await template(), path("dist/template.tar.gz"));
}
