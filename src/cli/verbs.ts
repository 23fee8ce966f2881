import type { Environment } from "../core/config.ts";
import { StartError } from "../core/errors.ts";
import { openEngine, prepare, type RunningServer, type Setup, startServer, version } from "../main.ts";
import { applyFlags } from "./apply/options.ts";
import { describeCommand, describeVerb, type Flags, parseCommand, type Verb } from "./arguments.ts";
import { chat, type Streams } from "./chat.ts";
import { nameCommand } from "./command-name.ts";
import { doctor } from "./doctor.ts";
import { describeApi } from "./openapi.ts";
import { print } from "./print.ts";
import { type QuickstartOptions, quickstart, readQuickstart } from "./quickstart.ts";
import { changePlatformAdmin, forgetSecrets, resetPassword, rotateKey } from "./rescue.ts";
import { stopOnSignals } from "./signals.ts";
import { targetFlags } from "./target/options.ts";

const json = { type: "boolean", description: "Print one line of JSON, for a script." } as const;

const verbs = {
  serve: { summary: "Serve the API (the default).", flags: {} },
  quickstart: {
    summary: "Make an owner, an agent and its key, serve, and show a first call.",
    flags: {
      email: { type: "string", description: "E-mail of the owner (OWNER_EMAIL, else owner@example.com)." },
      password: { type: "string", description: "Password of the owner (OWNER_PASSWORD, else one is made and shown)." },
      slug: { type: "string", description: "Slug of the agent (assistant)." },
      model: {
        type: "string",
        description: "Model of the agent: provider:model (first provider with a key, else demo).",
      },
      "new-key": { type: "boolean", description: "Give the agent a new key even if it has one." },
    },
  },
  chat: {
    summary: "Chat with an agent in the terminal; standard input that is no terminal is one message.",
    argument: { name: "slug", description: "Slug of the agent." },
    flags: {
      url: { type: "string", description: "Address of the server (BASE_URL, else this machine at PORT)." },
      key: { type: "string", description: "Key of the agent; better in AGENT_API_KEY, where no history keeps it." },
      new: { type: "boolean", description: "Begin another chat instead of going on with the last one." },
      json: { type: "boolean", description: "Print the events as they come, one JSON object a line." },
    },
    notes: `Ctrl+C stops a reply, and leaves when there is none; Ctrl+D leaves. Without a key in AGENT_API_KEY it is asked for
when the agent wants one. Exit codes: 0 replied, 1 refused or failed, 2 wrong usage, 130 interrupted.`,
  },
  apply: {
    summary: "Bring agents and skills to what files say, and show what differs.",
    argument: { name: "path", description: "Directory with agents/ and skills/, or one YAML or JSON file." },
    flags: { ...applyFlags, ...targetFlags, json },
    notes: `Without --url it works on the installation of this machine, which no server may use meanwhile unless it is on
PostgreSQL. Exit codes: 0 done or nothing to do, 1 failed, 2 wrong usage, 3 a dry run found differences.
The files are described in docs/agents-as-files.md.`,
  },
  pull: {
    summary: "Write the agents and skills of an organization into files, as apply takes them.",
    argument: { name: "directory", description: "Where to; it is made when it is not there." },
    flags: { force: { type: "boolean", description: "Replace files that say something else." }, ...targetFlags, json },
    notes: `It writes no secret and removes nothing. Exit codes: 0 written, 1 failed or refused, 2 wrong usage.
The files are described in docs/agents-as-files.md.`,
  },
  doctor: {
    summary: "Check settings, database, encryption key, providers and address; exit code 1 when something fails.",
    flags: { json },
  },
  migrate: { summary: "Bring the database up to this release and end.", flags: {} },
  openapi: { summary: "Print the OpenAPI document.", flags: {} },
  "rotate-key": {
    summary: "Seal all stored secrets with ENCRYPTION_KEY; name the earlier key in ENCRYPTION_KEY_PREVIOUS.",
    flags: { json },
  },
  "forget-secrets": {
    summary: "After the encryption key was lost: drop the secrets that no configured key opens.",
    flags: { yes: { type: "boolean", description: "Drop them without a question." }, json },
    notes: `It lists the values first and wants the word forget typed. Set a new ENCRYPTION_KEY before; a key that is found
again belongs into ENCRYPTION_KEY_PREVIOUS instead. Exit codes: 0 dropped or nothing to drop, 1 nothing was changed.`,
  },
  "reset-password": {
    summary: "Give a user a new password and end that user's sessions.",
    argument: { name: "email", description: "E-mail of the user." },
    flags: { json },
  },
  "platform-admin": {
    summary: "Make a user a Platform Admin of the managed edition.",
    argument: { name: "email", description: "E-mail of the user." },
    flags: { revoke: { type: "boolean", description: "End it instead; the last one stays." }, json },
  },
} as const satisfies Record<string, Verb>;

/** Runs one command line. Resolves when it is done or the server runs; rejects with an error for `explain`. */
export async function runCommand(
  line: readonly string[],
  environment: Environment,
  problem: string | null,
): Promise<void> {
  nameCommand(environment);
  const { name, named, flags, argument = "" } = parseCommand(line, verbs);
  if (flags.version) return print(`${version}\n`);
  if (flags.help) return print(named ? describeVerb(name, verbs[name]) : describeCommand(verbs));
  if (name === "openapi") return print(`${JSON.stringify(await describeApi(), null, 2)}\n`);
  if (problem !== null) throw new StartError(problem);
  await run({ name, flags, argument }, environment);
}

interface Command {
  name: keyof typeof verbs;
  flags: Flags;
  /** The argument of the verb; empty for verbs that have none. */
  argument: string;
}

async function run({ name, flags, argument }: Command, environment: Environment): Promise<void> {
  if (name === "doctor") {
    process.exitCode = await doctor(environment, flags);
    return;
  }
  if (name === "chat" || name === "apply" || name === "pull") {
    const streams: Streams = { input: process.stdin, output: process.stdout, notes: process.stderr };
    const talk = await conversations[name]();
    process.exitCode = await talk(argument, flags, environment, streams);
    return;
  }
  const options: QuickstartOptions | undefined = name === "quickstart" ? readQuickstart(flags, environment) : undefined;
  const setup = prepare(environment, { terminal: process.stderr.isTTY === true });
  if (name === "migrate") return migrate(setup);
  if (name === "rotate-key") return rotateKey(setup, flags);
  if (name === "forget-secrets") return forgetSecrets(setup, flags);
  if (name === "reset-password") return resetPassword(setup, argument, flags);
  if (name === "platform-admin") return changePlatformAdmin(setup, argument, flags);
  await serve(setup, options);
}

/** The commands that print while they run. Those for files are loaded only when they run, since no server needs them. */
const conversations = {
  chat: async () => chat,
  apply: async () => (await import("./apply.ts")).apply,
  pull: async () => (await import("./pull.ts")).pull,
};

async function serve(setup: Setup, options: QuickstartOptions | undefined): Promise<void> {
  const { OWNER_EMAIL: email, OWNER_PASSWORD: password, DRAIN_SECONDS, SHUTDOWN_GRACE_SECONDS } = setup.settings;
  // `quickstart` creates the owner itself, to know whether there already was one.
  const owner = !options && email && password ? { email, password } : undefined;
  const starting = startServer(setup, owner);
  stopOnSignals({
    stop: async () => (await starting).stop(),
    longestMs: (DRAIN_SECONDS + SHUTDOWN_GRACE_SECONDS) * 1000,
    log: setup.log,
    byNpm: setup.environment.npm_command !== undefined,
  });
  const server = await starting;
  if (!options) return print(invitation(server, setup));
  try {
    await print(await quickstart(server, { ...options, panel: setup.settings.PANEL === "on" }));
  } catch (error) {
    await server.stop();
    throw error;
  }
}

function invitation({ address, setupToken }: RunningServer, { settings }: Setup): string {
  if (setupToken === null) return "";
  const base = settings.BASE_URL ?? address;
  if (settings.PANEL === "on") {
    return `There is no owner yet. Open this link to become it; it works once:\n\n  ${base}/setup?token=${setupToken}\n\n`;
  }
  const body = JSON.stringify({ token: setupToken, email: "owner@example.com", password: "…" });
  return `There is no owner yet. Become it with a call that works once:\n\n  curl ${base}/api/setup -H "Content-Type: application/json" -d '${body}'\n\n`;
}

async function migrate(setup: Setup): Promise<void> {
  const { close } = await openEngine(setup, "http://localhost");
  await close();
  await print("The database is up to date.\n");
}
