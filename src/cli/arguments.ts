import { parseArgs } from "node:util";

export interface Flag {
  type: "string" | "boolean";
  description: string;
}

export type Flags = Readonly<Record<string, string | boolean | undefined>>;

export interface Verb {
  summary: string;
  flags: Readonly<Record<string, Flag>>;
}

/** A command line that means nothing: one line and exit code 2. */
export class UsageError extends Error {}

const shared = {
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" },
} as const;

/** Splits a command line into its verb (`serve` unless named) and its flags. Throws `UsageError`. */
export function parseCommand<Name extends string>(
  line: readonly string[],
  verbs: Readonly<Record<Name, Verb>>,
): { name: Name; named: boolean; flags: Flags } {
  const named = line[0] !== undefined && !line[0].startsWith("-");
  const name = named ? line[0] : "serve";
  if (!isVerb(name, verbs)) {
    throw new UsageError(`Unknown command "${name}"; there are: ${Object.keys(verbs).join(", ")}`);
  }
  const args = line.slice(named ? 1 : 0);
  try {
    const { values } = parseArgs({ args, options: { ...shared, ...verbs[name].flags }, allowPositionals: false });
    return { name, named, flags: values as Flags };
  } catch (error) {
    const [reason] = (error instanceof Error ? error.message : String(error)).split(/\. |\n/);
    throw new UsageError(`${reason?.replace(/\.$/, "")}; see agent-engine ${name} --help`);
  }
}

function isVerb<Name extends string>(name: string | undefined, verbs: Readonly<Record<Name, Verb>>): name is Name {
  return name !== undefined && Object.hasOwn(verbs, name);
}

/** The text of a flag, or undefined when it was not given. An empty one is a mistake. */
export function textFlag(flags: Flags, name: string): string | undefined {
  const value = flags[name];
  if (value === "") throw new UsageError(`--${name} must not be empty`);
  return typeof value === "string" ? value : undefined;
}

const footer = `Settings are environment variables, or lines of a file .env in the working directory, such as PORT=4000.
They are described in docs/configuration.md.`;

/** What `--help` prints for the whole command. */
export function describeCommand(verbs: Readonly<Record<string, Verb>>): string {
  const rows = Object.entries(verbs).map(([name, { summary }]) => [name, summary] as const);
  return `Agent Engine, a self-hosted server for AI agents.

Usage: agent-engine [command] [options]

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

/** What `--help` prints for one verb. */
export function describeVerb(name: string, { summary, flags }: Verb): string {
  const rows = Object.entries(flags).map(([flag, { type, description }]) => {
    return [`--${flag}${type === "string" ? ` <${flag}>` : ""}`, description] as const;
  });
  return `${summary}

Usage: agent-engine ${name} [options]

Options:
${table([...rows, ["-h, --help", "Show this."]])}

${footer}
`;
}

function table(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join("\n");
}
