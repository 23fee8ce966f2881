#!/usr/bin/env node
import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";
import { prepareThread } from "./adapters/node/embedded/thread.ts";
import { readEnvFile } from "./cli/env-file.ts";

/** Guesses from an unparsed command line whether it starts the server. */
function looksLikeServer([name = "serve", ...rest]: readonly string[]): boolean {
  const helps = rest.some((word) => ["-h", "--help", "-v", "--version"].includes(word));
  return ["serve", "quickstart"].includes(name) && !helps;
}

const line = process.argv.slice(2);
const { variables, problem } = readEnvFile();
/** The settings: variables of the process first, then those of the file. */
const environment = { ...variables, ...process.env };
// The embedded database takes longest to load, so it begins here, in parallel with the rest of the program.
if (looksLikeServer(line) && !environment.DATABASE_URL) prepareThread();
// Stores V8's compiled code next to the bundle; in a read-only directory V8 compiles at each start.
if (import.meta.url.endsWith(".js")) enableCompileCache(fileURLToPath(new URL("compile-cache", import.meta.url)));
const { run } = await import("./cli/run.ts");
await run(line, environment, problem);
