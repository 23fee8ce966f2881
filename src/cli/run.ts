import { bootSecrets } from "../adapters/node/log/log.ts";
import type { Environment } from "../core/config.ts";
import { StartError } from "../core/errors.ts";
import { scrubber } from "../core/scrub/scrub.ts";
import { version } from "../core/version.ts";
import { describeCommand, describeVerb, parseCommand, UsageError } from "./arguments.ts";
import type { Streams } from "./chat.ts";
import { nameCommand } from "./command-name.ts";
import { explain } from "./explain.ts";
import { print } from "./print.ts";
import { type Command, verbs } from "./verbs.ts";

/**
 * Runs one command line. An error ends the process, with an explanation. `problem` describes a defect of the
 * environment: commands that need the environment end with it.
 */
export async function run(line: readonly string[], environment: Environment, problem: string | null): Promise<void> {
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

/** Resolves when the command is done or the server runs; rejects with an error for `explain`. */
async function runCommand(line: readonly string[], environment: Environment, problem: string | null): Promise<void> {
  nameCommand(environment);
  const { name, named, flags, argument = "" } = parseCommand(line, verbs);
  if (flags.version) return print(`${version}\n`);
  if (flags.help) return print(named ? describeVerb(name, verbs[name]) : describeCommand(verbs));
  if (name === "openapi") return (await import("./openapi.ts")).printApi();
  if (problem !== null) throw new StartError(problem);
  await runVerb({ name, flags, argument }, environment);
}

/** Loads what a verb needs only when it runs: the engine alone takes most of a second of CPU. */
async function runVerb({ name, flags, argument }: Command, environment: Environment): Promise<void> {
  if (name === "doctor") {
    const { doctor } = await import("./doctor.ts");
    process.exitCode = await doctor(environment, flags);
  } else if (name === "chat" || name === "apply" || name === "pull") {
    const streams: Streams = { input: process.stdin, output: process.stdout, notes: process.stderr };
    const talk = await conversations[name]();
    process.exitCode = await talk(argument, flags, environment, streams);
  } else {
    const { runHere } = await import("./here.ts");
    await runHere({ name, flags, argument }, environment);
  }
}

/** The commands that print while they run. */
const conversations = {
  chat: async () => (await import("./chat.ts")).chat,
  apply: async () => (await import("./apply.ts")).apply,
  pull: async () => (await import("./pull.ts")).pull,
};
