import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseEnv } from "node:util";
import { errorCode } from "../adapters/node/error-code.ts";

export interface EnvFile {
  variables: Readonly<Record<string, string | undefined>>;
  /** Why an existing file's variables are unknown; null when they are known, and without a file. */
  problem: string | null;
}

/**
 * Reads the file `.env` of the working directory. An unreadable file is a problem: without its `DATABASE_URL` or
 * `DATA_DIR` a command would work on another installation.
 */
export function readEnvFile(): EnvFile {
  const path = resolve(".env");
  try {
    // Editors on Windows put a mark in front, which would become part of the first name, or write two bytes for each
    // character.
    const text = readFileSync(path, "utf8").replace(/^\uFEFF/, "");
    if (text.includes("\0")) return { variables: {}, problem: `${path} is not UTF-8: save it as such` };
    return { variables: parseEnv(text), problem: null };
  } catch (error) {
    const code = errorCode(error);
    // A directory of this name belongs to another tool, such as a virtual environment of Python.
    if (code === "ENOENT" || code === "EISDIR") return { variables: {}, problem: null };
    return { variables: {}, problem: `${path} can't be read (${code}): let this user read it, or remove it` };
  }
}
