import { randomBytes, randomUUID } from "node:crypto";
import { chmodSync, existsSync, linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { encryptionKey, type Settings } from "../../../core/config.ts";
import { StartError } from "../../../core/errors.ts";
import { errorCode } from "../error-code.ts";
import { hasEmbedded, prepareDirectory, unusableDirectory } from "./data-directory.ts";

/**
 * The keys of all stored secrets, the current one first. They come from the settings or, only with the embedded
 * database, from the file that its first start makes (decisions §1). Rejects with a `StartError` if that file is
 * unusable, or missing while its database exists. Call it before the database is created.
 */
export async function loadEncryptionKeys(settings: Settings): Promise<Uint8Array<ArrayBuffer>[]> {
  const { ENCRYPTION_KEY, ENCRYPTION_KEY_PREVIOUS, DATABASE_URL, DATA_DIR } = settings;
  if (ENCRYPTION_KEY) return [ENCRYPTION_KEY, ...ENCRYPTION_KEY_PREVIOUS];
  if (DATABASE_URL !== undefined) {
    throw new StartError(
      "ENCRYPTION_KEY must be set together with DATABASE_URL; make one with: openssl rand -base64 32",
    );
  }
  const directory = resolve(DATA_DIR);
  prepareDirectory(directory);
  if (hasEmbedded({ DATA_DIR: directory }) && !existsSync(keyFile(directory))) throw lostKey(directory);
  return [parse(readOrCreate(directory), directory), ...ENCRYPTION_KEY_PREVIOUS];
}

const keyFile = (directory: string) => join(directory, "encryption.key");

/** The error for a missing key file. A new key would open no stored secret, and would be taken for the lost one. */
const lostKey = (directory: string) =>
  new StartError(
    `${keyFile(directory)} is gone, and the database beside it holds secrets sealed with that key: restore the file from a backup, or set ENCRYPTION_KEY to what it held; if the key is lost for good, set ENCRYPTION_KEY to a new one (openssl rand -base64 32) and run agent-engine forget-secrets`,
  );

function readOrCreate(directory: string): string {
  const file = keyFile(directory);
  try {
    return read(file) ?? create(file);
  } catch (cause) {
    throw unusableDirectory(file, cause);
  }
}

function read(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  }
}

/** Writes all or nothing. Never replaces a key that another process created meanwhile: its secrets would be lost. */
function create(file: string): string {
  const draft = `${file}.${randomUUID()}`;
  const text = `${randomBytes(32).toString("base64")}\n`;
  writeFileSync(draft, text, { mode: 0o600, flush: true });
  try {
    chmodSync(draft, 0o600);
    linkSync(draft, file);
    return text;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return readFileSync(file, "utf8");
    // Some file systems do not support links.
    writeFileSync(file, text, { mode: 0o600, flag: "wx", flush: true });
    return text;
  } finally {
    rmSync(draft, { force: true });
  }
}

function parse(text: string, directory: string): Uint8Array<ArrayBuffer> {
  const parsed = encryptionKey.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new StartError(
    `${keyFile(directory)} does not hold a key, which is 32 bytes as base64: restore it, for without it the stored secrets can't be read`,
  );
}
