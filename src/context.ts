import { and, eq, gt, isNull, or, sql } from "drizzle-orm";
import type { ActivityBus } from "./core/activity/bus.ts";
import type { Admission } from "./core/admission/admission.ts";
import type { Changes } from "./core/changes.ts";
import type { Messengers } from "./core/channels/messengers.ts";
import type { Cipher } from "./core/credentials/cipher.ts";
import {
  isRoleKey,
  type Permission,
  type RoleKey,
  reachesAllWorkspaces,
  roles,
} from "./core/credentials/permissions.ts";
import { EngineError, notFound } from "./core/errors.ts";
import { newId } from "./core/ids.ts";
import type { Machine } from "./core/machine.ts";
import type { Meters } from "./core/meters.ts";
import type { Plugin } from "./core/plugins/plugin.ts";
import type { CurrentPolicies } from "./core/policies.ts";
import type { Assets, Clock, Egress, Files, Log, Mcp, Models, Notify, Passwords, Scripts } from "./core/ports.ts";
import type { AgentSecrets } from "./core/scrub/agent-secrets.ts";
import type { Collector, Tracer } from "./core/tracing.ts";
import type { Database, Db } from "./db/client.ts";
import { unlessDeadlocked } from "./db/retry.ts";
import { accessTokens, agents, auditLogs, members, workspaceIdsOf } from "./db/schema.ts";

/** The one who acts: a signed-in user, a management key for its organization, or `system` for the engine itself. */
export type Actor =
  | { type: "user"; id: string; name: string; email: string; sessionId: string }
  | { type: "key"; id: string; name: string }
  | { type: "system"; id: null; name: string };

/** The organization that a request addresses, and the rights of its actor there. */
export interface Membership {
  organizationId: string;
  organizationSlug: string;
  /** Whether it is the first organization, whose Owners administer the installation. */
  first: boolean;
  role: RoleKey;
  permissions: ReadonlySet<Permission>;
  /** The workspaces that the actor reaches; null for all of the organization. */
  workspaceIds: readonly string[] | null;
}

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
  /** The families of tools that every organization has. */
  plugins: readonly Plugin[];
  messengers: Messengers;
  files: Files;
  assets: Assets;
  machine: Machine;
  passwords: Passwords;
  scripts: Scripts;
  policies: CurrentPolicies;
  notify: Notify;
  tracer: Tracer;
  activity: ActivityBus;
  agentSecrets: AgentSecrets;
  meters: Meters;
  options: EngineOptions;
}

/** Options that stay the same while the process runs; settings that may change are policies. */
interface EngineOptions {
  version: string;
  /** The number of trusted proxies in front (decisions §1, "Proxy"). */
  trustProxy: number;
  /** The most chat completions a minute from one client address; 0 for no limit. */
  chatRequestsPerMinute: number;
  /** The public address unless the policy `publicAddress` names another, without a slash at its end. */
  baseUrl: string;
  /** Provider keys and addresses of the environment, by the agent secrets that they stand in for. */
  environmentKeys: ReadonlyMap<string, string>;
  /** Whether no other process can use the database: the embedded one is locked for one process. */
  soleProcess: boolean;
  /** Whether plugins may start processes on this machine. */
  allowStdioMcp: boolean;
  /** Whether the database has vectors (db/vectors.ts). */
  vectors?: boolean;
  /** What an operator's monitoring shows to read the meters; absent where nobody monitors. */
  metricsToken?: string | undefined;
  /** Whether the admin panel is served. */
  panel?: boolean;
  /** The operator's own collector of traces; absent for none. */
  collector?: Collector | null;
}

/** The call that a verb of a service serves: the services, the actor, and the addressed organization. */
export interface Ctx extends Services {
  db: Db;
  actor: Actor;
  membership: Membership;
  request: { id: string; ip: string };
}

/** The call of the engine itself in an organization, with all rights there; `name` tells the audit log what acted. */
export function systemCtx(
  services: Services,
  { first = false, ...organization }: Pick<Membership, "organizationId" | "organizationSlug"> & { first?: boolean },
  name: string,
): Ctx {
  const rights = { role: "owner", permissions: roles.owner, workspaceIds: null } as const;
  return {
    ...services,
    db: services.database.db,
    actor: { type: "system", id: null, name },
    membership: { ...organization, first, ...rights },
    request: { id: newId(), ip: "" },
  };
}

/** What `created_by` and `updated_by` hold: the user's id; null for keys and the engine, which the audit log names. */
export function authorOf({ actor }: Pick<Ctx, "actor">): string | null {
  return actor.type === "user" ? actor.id : null;
}

interface Change {
  /** `<noun>.<verb>`, as the audit log shows it. */
  action: string;
  /** The name of the changed thing, as people know it. */
  target: string;
  agentId?: string;
  /** Whether the agent is only named in the audit entry: its revision stays, so that no process loads it anew. */
  agentUnchanged?: boolean;
  /** Added to the audit entry; never the value of a secret, and nothing that is stored sealed. */
  summary?: Record<string, unknown>;
  /** Filled by an update: what it changed, never a secret. Where it stays empty, nothing changed: there is no entry. */
  changes?: Changes;
  /** Asked after `fn` where `changes` can't tell: whether nothing changed, so that there is no entry. */
  unchanged?: () => boolean;
  /** Takes the lock for which simultaneous changes wait: before the caller's rights are read, which may end meanwhile. */
  lock?: (tx: Db) => Promise<void>;
}

/**
 * The only way to change configuration: one transaction for the change, its audit entry and the increment of the
 * agent's revision, which readers of caches compare. `fn` may use only `tx`. A deadlock repeats it
 * (`unlessDeadlocked`).
 */
export async function write<T>(ctx: Ctx, change: Change, fn: (tx: Db) => Promise<T>): Promise<T> {
  const result = await unlessDeadlocked(() => writeOnce(ctx, change, fn));
  // Copies that other processes load after this commit have the change.
  if (!change.agentUnchanged) ctx.notify.publish("agent-changed", change.agentId ?? ctx.membership.organizationId);
  return result;
}

async function writeOnce<T>(ctx: Ctx, change: Change, fn: (tx: Db) => Promise<T>): Promise<T> {
  const { actor, membership, request } = ctx;
  return ctx.database.transaction(async (tx) => {
    const { changes, unchanged = () => isEmpty(changes), lock, summary, ...entry } = change;
    await lock?.(tx);
    await requireStanding(tx, ctx);
    // What a repeated transaction found before is not true any more.
    for (const field of Object.keys(changes ?? {})) delete changes?.[field];
    const result = await fn(tx);
    if (change.agentId && !change.agentUnchanged) {
      const changed = { revision: sql`${agents.revision} + 1`, updatedAt: sql`now()` };
      await tx.update(agents).set(changed).where(eq(agents.id, change.agentId));
    }
    if (unchanged()) return result;
    const told = { ...summary, ...(changes ? { changes } : {}) };
    await audit(tx, { ...entry, summary: told, actor, request, organizationId: membership.organizationId });
    return result;
  });
}

const isEmpty = (changes: Changes | undefined) => changes !== undefined && Object.keys(changes).length === 0;

/**
 * Checks the caller's rights once more, because a body may arrive long after its head was admitted, and a change may
 * wait for its lock. Throws the 401, 404 and 403 that the head would get now.
 */
export async function requireStanding(db: Db, ctx: Ctx): Promise<void> {
  const { actor, membership } = ctx;
  if (actor.type === "system") return;
  const standing = requireStored(actor, await readStanding(db, actor, ctx));
  if (actor.type === "key") return;
  const reached = workspaceScope(membership)?.toSorted().join() ?? null;
  if (standing.role === membership.role && (reached === null || reached === (standing.workspaceIds ?? ""))) return;
  throw new EngineError("forbidden", "Your rights changed while this request was on its way: send it again");
}

/** `requireStanding` for what needs no organization. Throws the 401. */
export async function requireToken(db: Db, ctx: Ctx): Promise<void> {
  if (ctx.actor.type !== "system" && !(await readStanding(db, ctx.actor, ctx))) throw unknownToken();
}

/** The caller's membership as it is now, from the stored token. Throws the 401 and 404 that a new request would get. */
export function membershipNow({ actor, membership }: Ctx, stored: Standing | undefined): Membership {
  if (actor.type === "system") return membership;
  const standing = requireStored(actor, stored);
  return actor.type === "user" ? membershipIn(membership, standing) : membership;
}

/** A role in an organization, and the ids of the reached workspaces, joined by commas. */
export interface Standing {
  role: string | null;
  workspaceIds: string | null;
}

/** The membership of a role. A role that this release does not know may do nothing. */
export function membershipIn(
  { organizationId, organizationSlug, first }: Pick<Membership, "organizationId" | "organizationSlug" | "first">,
  { role: key, workspaceIds }: Standing,
): Membership {
  const known = key !== null && isRoleKey(key) ? key : null;
  const role = known ?? "viewer";
  return {
    ...{ organizationId, organizationSlug, first, role },
    permissions: known ? roles[known] : new Set(),
    workspaceIds: reachesAllWorkspaces(role) ? null : (workspaceIds?.split(",") ?? []),
  };
}

async function readStanding(
  db: Db,
  actor: Exclude<Actor, { type: "system" }>,
  { membership, clock }: Ctx,
): Promise<Standing | undefined> {
  const tokenId = actor.type === "user" ? actor.sessionId : actor.id;
  const own = and(eq(members.userId, accessTokens.userId), eq(members.organizationId, membership.organizationId));
  const workspaceIds = workspaceIdsOf(accessTokens.userId, sql`${membership.organizationId}`);
  const isLive = or(isNull(accessTokens.expiresAt), gt(accessTokens.expiresAt, new Date(clock.now())));
  const [standing] = await db
    .select({ role: members.roleKey, workspaceIds })
    .from(accessTokens)
    .leftJoin(members, own)
    .where(and(eq(accessTokens.id, tokenId), isLive));
  return standing;
}

/** Throws the 401 when the token is gone, and the 404 when the user has left the organization. */
function requireStored(actor: Actor, standing: Standing | undefined): Standing {
  if (!standing) throw unknownToken();
  if (standing.role === null && actor.type === "user") throw notFound("Organization");
  return standing;
}

/** The 401 of a token that nobody has. */
export const unknownToken = () => new EngineError("unauthorized", "Invalid or expired credentials");

interface Event extends Omit<Change, "changes" | "unchanged" | "lock"> {
  /** Null for an event of the installation, or by somebody without an account. */
  organizationId: string | null;
  actor: { type: Actor["type"]; id: string | null; name: string | null };
  success?: boolean;
  request: { id: string; ip: string };
}

/** Stores entries of the audit log in one statement. Changes of configuration use `write` instead. */
export async function audit(db: Db, ...events: [Event, ...Event[]]): Promise<void> {
  const rows = events.map(({ actor, request, ...event }) => {
    const { organizationId, action, target, agentId = null, success = true, summary = {} } = event;
    return {
      id: newId(),
      organizationId,
      actorType: actor.type,
      actorId: actor.id,
      actorName: actor.name,
      action,
      target,
      agentId,
      success,
      summary,
      ip: request.ip,
      requestId: request.id,
    };
  });
  await db.insert(auditLogs).values(rows);
}

/** The address at which clients reach the installation, without a slash at its end. */
export function publicAddress({ policies, options }: Services): string {
  return policies.values.publicAddress ?? options.baseUrl;
}

/** The workspaces that limit a query; null when the actor reaches all of the organization. */
export function workspaceScope(membership: Membership): readonly string[] | null {
  return reachesAllWorkspaces(membership.role) ? null : membership.workspaceIds;
}

/** Throws the 403 of decisions §2 unless the caller holds the permission. */
export function requirePermission(membership: Membership, permission: Permission): void {
  if (!membership.permissions.has(permission)) throw lacking(permission);
}

/** `requirePermission` for the whole installation: the permission must be held in the first organization. */
export function requireInstallationPermission(membership: Membership, permission: Permission): void {
  if (!membership.first) throw lacking(permission);
  requirePermission(membership, permission);
}

const lacking = (permission: Permission) => new EngineError("forbidden", `Missing permission: ${permission}`);
