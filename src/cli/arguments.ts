import { parseArgs } from "node:util";
import { nearest } from "../core/text/nearest.ts";
import { command } from "./command-name.ts";

interface Flag {
  type: "string" | "boolean";
  description: string;
}

export type Flags = Readonly<Record<string, string | boolean | undefined>>;

export interface Verb {
  summary: string;
  /** The required argument after the verb's name, such as a slug. */
  argument?: { name: string; description: string };
  flags: Readonly<Record<string, Flag>>;
  /** Text of `--help` below the options, instead of the usual footer. */
  notes?: string;
}

/** Thrown for a wrong command line: the command prints the message on one line, and ends with exit code 2. */
export class UsageError extends Error {}

const shared = {
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" },
} as const;

/** Splits a command line into its verb (`serve` unless named) and its flags. Throws `UsageError`. */
export function parseCommand<Name extends string>(
  line: readonly string[],
  verbs: Readonly<Record<Name, Verb>>,
): { name: Name; named: boolean; flags: Flags; argument: string | undefined } {
  const named = line[0] !== undefined && !line[0].startsWith("-");
  const name = named ? line[0] : "serve";
  if (!isVerb(name, verbs)) throw unknownVerb(name ?? "", Object.keys(verbs));
  const args = line.slice(named ? 1 : 0);
  const verb: Verb = verbs[name];
  const { values, positionals } = parseFlags(name, verb, args);
  const [argument] = positionals;
  const extra = positionals[verb.argument ? 1 : 0];
  if (extra !== undefined) throw new UsageError(`Unexpected argument '${extra}'; see ${command} ${name} --help`);
  if (verb.argument && !argument && !values.help && !values.version) {
    throw new UsageError(`${command} ${name} needs <${verb.argument.name}>; see ${command} ${name} --help`);
  }
  return { name, named, flags: values, argument };
}

function parseFlags(name: string, { flags }: Verb, args: string[]): { values: Flags; positionals: string[] } {
  const options = { ...shared, ...flags };
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    return { values: values as Flags, positionals };
  } catch (error) {
    const [reason = ""] = (error instanceof Error ? error.message : String(error)).split(/\. |\n/);
    const unknown = /^Unknown option '--([^']+)'/.exec(reason)?.[1];
    const meant = unknown === undefined ? undefined : nearest(unknown, Object.keys(options));
    const hint = meant === undefined ? "" : `; did you mean --${meant}?`;
    throw new UsageError(`${reason.replace(/\.$/, "")}${hint || ";"} see ${command} ${name} --help`);
  }
}

function unknownVerb(name: string, names: readonly string[]): UsageError {
  const meant = nearest(name, names);
  if (meant !== undefined) return new UsageError(`Unknown command "${name}"; did you mean ${command} ${meant}?`);
  return new UsageError(`Unknown command "${name}"; there are: ${names.join(", ")}`);
}

function isVerb<Name extends string>(name: string | undefined, verbs: Readonly<Record<Name, Verb>>): name is Name {
  return name !== undefined && Object.hasOwn(verbs, name);
}

/** The text of a flag; undefined without the flag. Throws a `UsageError` for an empty text. */
export function textFlag(flags: Flags, name: string): string | undefined {
  const value = flags[name];
  if (value === "") throw new UsageError(`--${name} must not be empty`);
  return typeof value === "string" ? value : undefined;
}

const footer = `Settings are environment variables, or lines of a file .env in the working directory, such as PORT=4000.
They are described in docs/configuration.md.`;

/** The output of `--help` for the whole command. */
export function describeCommand(verbs: Readonly<Record<string, Verb>>): string {
  const rows = Object.entries(verbs).map(([name, { summary }]) => [name, summary] as const);
  return `Agent Engine, a self-hosted server for AI agents.

Usage: ${command} [command] [options]

Commands:
${table(rows)}

Options:
${table([
  ["-h, --help", "Show this, or the help of a command."],
  ["-v, --version", "Show the version."],
])}

${footer}
`;
}

/** The output of `--help` for one verb. */
export function describeVerb(name: string, { summary, argument, flags, notes }: Verb): string {
  const rows = Object.entries(flags).map(([flag, { type, description }]) => {
    return [`--${flag}${type === "string" ? ` <${flag}>` : ""}`, description] as const;
  });
  const first = argument ? [[`<${argument.name}>`, argument.description] as const] : [];
  return `${summary}

Usage: ${command} ${name}${argument ? ` <${argument.name}>` : ""} [options]

Options:
${table([...first, ...rows, ["-h, --help", "Show this."]])}

${notes ?? footer}
`;
}

function table(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join("\n");
}
