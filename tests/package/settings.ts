import { expect } from "vitest";
import { postgresTarget } from "../../src/adapters/node/postgres-target.ts";
import { parseSettings, settings } from "../../src/core/config.ts";

/** The assignments of a text, one a line. */
export function assignments(text: string): Record<string, string> {
  const found = [...text.matchAll(/^([A-Z_]+)=(.*)$/gm)];
  return Object.fromEntries(found.map(([, name = "", value = ""]) => [name, value]));
}

/** The server's settings in a text whose secrets are left open. */
export function settingsIn(text: string) {
  const given = assignments(text);
  expect(Object.keys(given).filter((name) => !(name in settings.shape))).toEqual([]);
  const key = Buffer.alloc(32).toString("base64");
  const filled = Object.entries(given).map(([name, value]) => [
    name,
    value === "…" ? key : value.replace("…", "secret"),
  ]);
  const read = parseSettings({ ENCRYPTION_KEY: key, ...Object.fromEntries(filled) });
  const urls = [read.DATABASE_URL, read.DATABASE_LISTEN_URL].filter((url) => url !== undefined);
  for (const url of urls) expect(postgresTarget(url, read)).toMatchObject({ url });
  return read;
}
