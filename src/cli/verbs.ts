import { applyFlags } from "./apply/options.ts";
import type { Flags, Verb } from "./arguments.ts";
import { targetFlags } from "./target/options.ts";

const json = { type: "boolean", description: "Print one line of JSON, for a script." } as const;

export const verbs = {
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

export interface Command {
  name: keyof typeof verbs;
  flags: Flags;
  /** The argument of the verb; empty for verbs that have none. */
  argument: string;
}
