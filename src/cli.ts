#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { bootSecrets } from "./adapters/node/log.ts";
import { UsageError } from "./cli/arguments.ts";
import { explain } from "./cli/explain.ts";
import { runCommand } from "./cli/verbs.ts";
import { scrubber } from "./core/scrub/scrub.ts";

/** The settings: variables of the process first, then those of a file `.env` in the working directory. */
function readEnvironment(): Record<string, string | undefined> {
  try {
    return { ...parseEnv(readFileSync(".env", "utf8")), ...process.env };
  } catch {
    return { ...process.env };
  }
}

// A reader of the output that ends early, such as `head`, is no error.
process.stdout.on("error", () => process.exit(0));

const environment = readEnvironment();
try {
  await runCommand(process.argv.slice(2), environment);
} catch (error) {
  const scrub = scrubber(bootSecrets(environment));
  for (const line of explain(error)) process.stderr.write(`agent-engine: ${scrub(line)}\n`);
  process.exit(error instanceof UsageError ? 2 : 1);
}
