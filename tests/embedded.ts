import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { template } from "../scripts/make-template.ts";
import { loadEncryptionKeys } from "../src/adapters/node/data/encryption-keys.ts";
import { folderAt, unpackTemplate } from "../src/adapters/node/embedded/template.ts";
import { type EmbeddedDatabase, superviseDatabase } from "../src/adapters/node/embedded/thread.ts";
import { parseSettings } from "../src/core/config.ts";
import type { Log } from "../src/core/ports.ts";

/** A log that collects its messages. */
export function collectLog(): { log: Log; lines: string[] } {
  const lines: string[] = [];
  const keep = (_fields: unknown, message: string) => void lines.push(message);
  const log: Log = { debug: keep, info: keep, warn: keep, error: keep, child: () => log };
  return { log, lines };
}

export const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };

/** The embedded database as the server runs it, but in memory, with the schema of this release. */
export async function startEmbedded(): Promise<EmbeddedDatabase> {
  return superviseDatabase({ directory: null, template: await template() }, silent);
}

/**
 * Fills an empty data directory as the first start of the built program does. The program from its sources has no
 * template and would create the database, which takes seconds.
 */
export async function fillDirectory(directory: string): Promise<void> {
  await loadEncryptionKeys(parseSettings({ DATA_DIR: directory }));
  const data = join(directory, "pgdata");
  mkdirSync(data, { mode: 0o700 });
  unpackTemplate(await template(), folderAt(data));
}
