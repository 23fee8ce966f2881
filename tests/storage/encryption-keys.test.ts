import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadEncryptionKeys } from "../../src/adapters/node/data/encryption-keys.ts";
import { parseSettings } from "../../src/core/config.ts";
import { StartError } from "../../src/core/errors.ts";
import { temporaryDirectory } from "./setup.ts";

const keys = (environment: Record<string, string>) => loadEncryptionKeys(parseSettings(environment));

test("the first start makes a key for its owner's eyes alone, later ones read it", async () => {
  const directory = join(temporaryDirectory(), "data");
  const [made] = await keys({ DATA_DIR: directory });
  expect(made).toHaveLength(32);
  expect(await keys({ DATA_DIR: directory })).toEqual([made]);
  expect(statSync(join(directory, "encryption.key")).mode & 0o777).toBe(0o600);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  expect(readdirSync(directory)).toEqual(["encryption.key"]);
});

test("of many that start at once all have the same key", async () => {
  const directory = temporaryDirectory();
  const all = await Promise.all(Array.from({ length: 10 }, () => keys({ DATA_DIR: directory })));
  expect(new Set(all.map(([key]) => Buffer.from(key ?? []).toString("hex"))).size).toBe(1);
});

test("a key of the environment goes first, older ones follow, and no file is made", async () => {
  const directory = temporaryDirectory();
  const found = await keys({
    DATA_DIR: directory,
    ENCRYPTION_KEY: "01".repeat(32),
    ENCRYPTION_KEY_PREVIOUS: `${"02".repeat(32)},${"03".repeat(32)}`,
  });
  expect(found.map((key) => key[0])).toEqual([1, 2, 3]);
  expect(existsSync(join(directory, "encryption.key"))).toBe(false);
});

test("a file without a key is one clear line, and stays as it is", async () => {
  const directory = temporaryDirectory();
  const file = join(directory, "encryption.key");
  for (const text of ["", "too short\n", "x".repeat(44)]) {
    writeFileSync(file, text);
    const error = await keys({ DATA_DIR: directory }).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(StartError);
    expect(String(error)).toContain(`${file} does not hold a key, which is 32 bytes as base64: restore it`);
    expect(readFileSync(file, "utf8")).toBe(text);
  }
});

test("a key file that is a directory is one clear line", async () => {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, "encryption.key"));
  await expect(keys({ DATA_DIR: directory })).rejects.toThrow(StartError);
});

test("a key that is gone while its database is there is one clear line, and no other key takes its place", async () => {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, "pgdata"));
  writeFileSync(join(directory, "pgdata", "PG_VERSION"), "18\n");
  const lost = `${join(directory, "encryption.key")} is gone, and the database beside it holds secrets`;
  await expect(keys({ DATA_DIR: directory })).rejects.toThrow(lost);
  expect(readdirSync(directory)).toEqual(["pgdata"]);
  expect(await keys({ DATA_DIR: directory, ENCRYPTION_KEY: "01".repeat(32) })).toHaveLength(1);

  // A first start that was cut off sealed nothing.
  writeFileSync(join(directory, "pgdata.unfinished"), "");
  expect(await keys({ DATA_DIR: directory })).toHaveLength(1);
});
