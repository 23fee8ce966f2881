import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { systemClock } from "../../src/adapters/node/clock.ts";
import { openStorage, type Storage } from "../../src/adapters/node/storage.ts";
import { parseSettings, type Settings } from "../../src/core/config.ts";
import { openTestDatabase } from "../database.ts";
import { silent } from "../embedded.ts";

/** An empty database of the run's dialect, until the test ends. */
export async function onDatabase() {
  const { database, close } = await openTestDatabase();
  onTestFinished(close);
  return database;
}

/** A fresh directory that is gone when the test ends. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "storage-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

export const key = "00".repeat(32);

export function settingsOf(environment: Record<string, string>): Settings {
  return parseSettings({ ENCRYPTION_KEY: key, ...environment });
}

/** The storage of these settings as the server opens it. */
export function open(environment: Record<string, string>, template?: string): Promise<Storage> {
  return openStorage(settingsOf(environment), { clock: systemClock, log: silent, ...(template ? { template } : {}) });
}
