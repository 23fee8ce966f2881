#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseEnv } from "node:util";
import { prepareThread } from "./adapters/node/embedded/thread.ts";
import { errorCode } from "./adapters/node/error-code.ts";

interface EnvFile {
  variables: Readonly<Record<string, string | undefined>>;
  /** Why an existing file could not be read; null when it was, and when there is none. */
  problem: string | null;
}

/**
 * Reads the file `.env` in the working directory. If it can't be read, that is a problem: without its `DATABASE_URL` or
 * `DATA_DIR`, a command would use another installation.
 */
function readEnvFile(): EnvFile {
  const path = resolve(".env");
  try {
    // Editors on Windows may begin a file with a mark, which would become part of the first name, or write two bytes
    // for each character.
    const text = readFileSync(path, "utf8").replace(/^\uFEFF/, "");
    if (text.includes("\0")) return { variables: {}, problem: `${path} is not UTF-8: save it as such` };
    return { variables: parseEnv(text), problem: null };
  } catch (error) {
    const code = errorCode(error);
    // A directory of this name belongs to another tool, for example to a virtual environment of Python.
    if (code === "ENOENT" || code === "EISDIR") return { variables: {}, problem: null };
    return { variables: {}, problem: `${path} can't be read (${code}): let this user read it, or remove it` };
  }
}

/** Guesses from a command line that was not parsed yet whether it starts the server. */
function looksLikeServer([name = "serve", ...rest]: readonly string[]): boolean {
  const helps = rest.some((word) => ["-h", "--help", "-v", "--version"].includes(word));
  return ["serve", "quickstart"].includes(name) && !helps;
}

const line = process.argv.slice(2);
const { variables, problem } = readEnvFile();
/** The settings. Variables of the process come before those of the file. */
const environment = { ...variables, ...process.env };
// Loading the embedded database takes longest, so it begins here, while the rest of the program loads.
if (looksLikeServer(line) && !environment.DATABASE_URL) prepareThread();
// Stores V8's compiled code next to the bundle. In a read-only directory, V8 compiles at each start.
if (import.meta.url.endsWith(".js")) enableCompileCache(fileURLToPath(new URL("compile-cache", import.meta.url)));
const { run } = await import("./cli/run.ts");
await run(line, environment, problem);
