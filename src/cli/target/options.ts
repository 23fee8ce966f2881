import type { Environment } from "../../core/config.ts";
import { type Flags, textFlag, UsageError } from "../arguments.ts";
import { checkKey, readServerUrl } from "../chat/options.ts";

/** The installation that a command works on: a server or, without `server`, that of this machine. */
export interface TargetOptions {
  server?: { url: string; key: string };
  /** The organization's slug; absent: the only organization, or that of the key. */
  organization?: string;
  /** The workspace's name or id; absent: the first one for new agents, all of them for other things. */
  workspace?: string;
}

export const targetFlags = {
  url: { type: "string", description: "Address of a server; without it, the installation of this machine." },
  key: { type: "string", description: "Management key for --url; better in AGENT_ENGINE_KEY." },
  organization: { type: "string", description: "Slug of the organization (the only one)." },
  workspace: { type: "string", description: "Name of the workspace (all; new agents: the oldest one)." },
} as const;

/** Reads the flags and the environment. Throws `UsageError`. */
export function readTarget(flags: Flags, environment: Environment): TargetOptions {
  const organization = textFlag(flags, "organization");
  const workspace = textFlag(flags, "workspace");
  const url = readServerUrl(flags);
  const given = textFlag(flags, "key");
  if (url === undefined && given !== undefined) throw new UsageError("--key is for a server: name it with --url");
  const key = (given ?? environment.AGENT_ENGINE_KEY)?.trim() || undefined;
  if (url !== undefined && key === undefined) {
    throw new UsageError("--url needs a management key of the organization: set AGENT_ENGINE_KEY to it");
  }
  if (key !== undefined) checkKey(key);
  return {
    ...(url === undefined || key === undefined ? {} : { server: { url, key } }),
    ...(organization === undefined ? {} : { organization }),
    ...(workspace === undefined ? {} : { workspace }),
  };
}
