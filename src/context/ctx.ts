import type { ActivityBus } from "../core/activity/bus.ts";
import type { Messengers } from "../core/channels/messengers.ts";
import type { Cipher } from "../core/credentials/cipher.ts";
import { ownerStanding } from "../core/credentials/rights.ts";
import type { Edition } from "../core/edition.ts";
import { newId } from "../core/ids.ts";
import type { Admission } from "../core/limits/admission.ts";
import type { Machine } from "../core/machine.ts";
import type { Mailer } from "../core/mail.ts";
import type { Meters } from "../core/meters.ts";
import type { Fallbacks } from "../core/models/fallbacks.ts";
import type { Plugin } from "../core/plugins/plugin.ts";
import type { CurrentPolicies } from "../core/policies.ts";
import type { Assets, Clock, Egress, Files, Log, Mcp, Models, Notify, Passwords, Scripts } from "../core/ports.ts";
import type { AgentSecrets } from "../core/scrub/agent-secrets.ts";
import type { Collector, Tracer } from "../core/tracing.ts";
import type { Database, Db } from "../db/client.ts";
import { type Membership, membershipIn } from "./membership.ts";

/** A personal token: it acts for its holder, within its scope and its permissions. */
interface PersonalToken {
  name: string;
  /** `installation`: the token of a Platform Admin works across organizations. */
  scope: "organization" | "installation";
}

/** A person. Neither `token` nor `impersonator`: the person is signed in. */
export interface UserActor {
  type: "user";
  id: string;
  name: string;
  email: string;
  tokenId: string;
  token?: PersonalToken;
  /** The Platform Admin who sees what the person sees. */
  impersonator?: { id: string; name: string };
}

/** The author of a request: a person, a management key for its organization, or `system` for the engine. */
export type Actor = UserActor | { type: "key"; id: string; name: string } | { type: "system"; id: null; name: string };

/** The ports and options that the composition root passes to services. */
export interface Services {
  database: Database;
  cipher: Cipher;
  clock: Clock;
  log: Log;
  admission: Admission;
  models: Models;
  egress: Egress;
  mcp: Mcp;
  /** The plugins of every organization. */
  plugins: readonly Plugin[];
  messengers: Messengers;
  files: Files;
  mailer: Mailer;
  assets: Assets;
  machine: Machine;
  passwords: Passwords;
  scripts: Scripts;
  policies: CurrentPolicies;
  notify: Notify;
  tracer: Tracer;
  activity: ActivityBus;
  agentSecrets: AgentSecrets;
  fallbacks: Fallbacks;
  meters: Meters;
  options: EngineOptions;
}

/** Options that don't change while the process runs. (Settings that may change are policies.) */
interface EngineOptions {
  version: string;
  edition: Edition;
  /** The number of trusted proxies in front (decisions §1, "Proxy"). */
  trustProxy: number;
  /** The most chat requests a minute from one client address; 0 for no limit. */
  chatRequestsPerMinute: number;
  /** The public address, without a trailing slash, used unless the policy `publicAddress` overrides it. */
  baseUrl: string;
  /** The environment's provider keys and addresses, by the names of the agent secrets that can replace them. */
  environmentKeys: ReadonlyMap<string, string>;
  /** Whether this is the only process that can use the database: one process locks the embedded database. */
  soleProcess: boolean;
  /** Whether plugins may start processes on this machine. */
  allowStdioMcp: boolean;
  /** Whether the database has vectors (db/vectors.ts). */
  vectors?: boolean;
  /** The token with which the operator's monitoring reads the metrics; absent without monitoring. */
  metricsToken?: string | undefined;
  /** Whether the admin panel is served. */
  panel?: boolean;
  /** The operator's own trace collector; absent for none. */
  collector?: Collector | null;
}

/** The context of an operation: the services, the actor, and the organization of the request. */
export interface Ctx extends Services {
  db: Db;
  actor: Actor;
  membership: Membership;
  request: { id: string; ip: string };
}

/** Whether the feature `administration` is on, as an option of routes. */
export const isAdministered = ({ options }: Services) => options.edition.has("administration");

/** The context of the engine itself in an organization, where it has all rights; `name` is the actor in the audit log. */
export function systemCtx(
  services: Services,
  { first = false, ...organization }: Pick<Membership, "organizationId" | "organizationSlug"> & { first?: boolean },
  name: string,
): Ctx {
  return {
    ...services,
    db: services.database.db,
    actor: { type: "system", id: null, name },
    membership: membershipIn({ ...organization, first }, ownerStanding, services.options.edition),
    request: { id: newId(), ip: "" },
  };
}

/**
 * The author for `created_by` and `updated_by`: a user's id; null for keys and the engine, which are in the audit log.
 */
export function authorOf({ actor }: Pick<Ctx, "actor">): string | null {
  return actor.type === "user" ? actor.id : null;
}

/** The address at which clients reach the installation, without a trailing slash. */
export function publicAddress({ policies, options }: Services): string {
  return policies.values.publicAddress ?? options.baseUrl;
}
