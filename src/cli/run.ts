import { bootSecrets } from "../adapters/node/log/log.ts";
import { scrubber } from "../core/scrub/scrub.ts";
import { UsageError } from "./arguments.ts";
import { explain } from "./explain.ts";
import { runCommand } from "./verbs.ts";

/**
 * Runs one command line. An error ends the process, with an explanation. `problem` describes a defect of the
 * environment: commands that need the environment end with it.
 */
export async function run(
  line: readonly string[],
  environment: Record<string, string | undefined>,
  problem: string | null,
): Promise<void> {
  // A reader that stops early, as `head` does, is no error.
  process.stdout.on("error", () => process.exit(0));
  try {
    await runCommand(line, environment, problem);
  } catch (error) {
    const scrub = scrubber(bootSecrets(environment));
    for (const text of explain(error)) process.stderr.write(`agent-engine: ${scrub(text)}\n`);
    process.exit(error instanceof UsageError ? 2 : 1);
  }
}
