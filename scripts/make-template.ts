// Makes dist/template.tar.gz: an embedded database with the migrations applied, for a first start.
import { createHash, randomUUID } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { PGlite } from "@electric-sql/pglite";
import manifest from "../package.json" with { type: "json" };
import { readMigrations } from "../src/adapters/node/migrations.ts";
import { applyMigrations, type Migration } from "../src/db/migrate.ts";

const path = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url));

/** The template's file, made unless an earlier call had the same migrations and version of the database. */
export async function template(): Promise<string> {
  const migrations = readMigrations();
  const digest = createHash("sha256").update(manifest.dependencies["@electric-sql/pglite"]);
  for (const { hash } of migrations) digest.update(hash);
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
  const database = await PGlite.create();
  await applyMigrations(async (text, parameters) => {
    if (parameters) return (await database.query(text, [...parameters])).rows;
    return (await database.exec(text)).at(-1)?.rows ?? [];
  }, migrations);
  const dump = await database.dumpDataDir("gzip");
  await database.close();
  return new Uint8Array(await dump.arrayBuffer());
}

if (import.meta.main) {
  mkdirSync(path("dist"), { recursive: true });
  copyFileSync(await template(), path("dist/template.tar.gz"));
}
