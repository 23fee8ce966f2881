#!/usr/bin/env node
import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";
import { prepareThread } from "./adapters/node/embedded/thread.ts";
import { readEnvFile } from "./cli/env-file.ts";

/** Whether a command line serves, going by its looks: it is not parsed yet. */
function looksLikeServer([name = "serve", ...rest]: readonly string[]): boolean {
  const helps = rest.some((word) => ["-h", "--help", "-v", "--version"].includes(word));
  return ["serve", "quickstart"].includes(name) && !helps;
}

const line = process.argv.slice(2);
const { variables, problem } = readEnvFile();
/** The settings: variables of the process first, then those of the file. */
const environment = { ...variables, ...process.env };
// A start takes as long as the database, which begins to load here, beside the rest of the program.
if (looksLikeServer(line) && !environment.DATABASE_URL) prepareThread();
// The code that V8 made of the bundle is kept beside it; where it may not be written, it is made at each start.
if (import.meta.url.endsWith(".js")) enableCompileCache(fileURLToPath(new URL("compile-cache", import.meta.url)));
const { run } = await import("./cli/run.ts");
await run(line, environment, problem);
