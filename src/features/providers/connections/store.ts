import { and, asc, eq, isNull, or, type SQL, sql } from "drizzle-orm";
import type { Ctx, Services } from "../../../context/ctx.ts";
import { notFound } from "../../../core/errors.ts";
import { type ProviderRole, providerRoles } from "../../../core/models/roles.ts";
import type { Db } from "../../../db/client.ts";
import { hasId } from "../../../db/fragments.ts";
import { agents, providerBindings, providerConnections } from "../../../db/schema.ts";
import { type AgentRow, findAgent, writeAgent } from "../../agents/index.ts";
import { lockOrganization, writeOrganization } from "../../organizations/index.ts";
import { type ConnectionRow, keyPlace } from "./rules.ts";

/** The owner of connections: the agent of private ones, or null for the shared ones of the request's organization. */
export type Home = Pick<AgentRow, "id" | "workspaceId"> | null;

/** Finds the owner of connections; `slug` is null for the organization. Throws the 404 of the agent. */
export const findHome = async (ctx: Ctx, slug: string | null): Promise<Home> =>
  slug === null ? null : findAgent(ctx, slug);

export function inHome({ membership }: Ctx, home: Home): SQL | undefined {
  return and(
    eq(providerConnections.organizationId, membership.organizationId),
    home ? eq(providerConnections.agentId, home.id) : isNull(providerConnections.agentId),
  );
}

/** The connections of an owner, in the order of their names. */
export function readConnections(db: Db, ctx: Ctx, home: Home): Promise<ConnectionRow[]> {
  return db.select().from(providerConnections).where(inHome(ctx, home)).orderBy(asc(providerConnections.name));
}

/** A connection of an owner. Throws the same 404 for a missing one and for one of another owner. */
export async function findConnection(db: Db, ctx: Ctx, home: Home, id: string): Promise<ConnectionRow> {
  const [row] = await db
    .select()
    .from(providerConnections)
    .where(and(inHome(ctx, home), hasId(providerConnections.id, id)));
  if (!row) throw notFound("Connection");
  return row;
}

/**
 * Limits a query of bindings to those that name the connection, as the first model or as a fallback. `id` is the stored
 * one: a request may spell it in upper case.
 */
export const binds = (id: string) =>
  or(
    eq(providerBindings.connectionId, id),
    sql`${providerBindings.fallbacks} @> ${JSON.stringify([{ connectionId: id }])}::jsonb`,
  );

/** The roles to which agents of the organization bind each connection. */
export async function rolesByConnection(db: Db, { membership }: Ctx, home: Home): Promise<Map<string, ProviderRole[]>> {
  const rows = await db
    .select({
      role: providerBindings.role,
      first: providerBindings.connectionId,
      fallbacks: providerBindings.fallbacks,
    })
    .from(providerBindings)
    .innerJoin(agents, eq(agents.id, providerBindings.agentId))
    .where(home ? eq(agents.id, home.id) : eq(agents.organizationId, membership.organizationId));
  const found = new Map<string, Set<ProviderRole>>();
  for (const { role, first, fallbacks } of rows) {
    for (const id of [first, ...fallbacks.map(({ connectionId }) => connectionId)]) {
      found.set(id, (found.get(id) ?? new Set()).add(role));
    }
  }
  return new Map([...found].map(([id, roles]) => [id, providerRoles.filter((role) => roles.has(role))]));
}

/** The key of a connection; null without one, and for one that no encryption key opens. */
export async function openKey(
  { cipher }: Pick<Services, "cipher">,
  { id, keyId, ciphertext }: Pick<ConnectionRow, "id" | "keyId" | "ciphertext">,
): Promise<string | null> {
  if (keyId === null || ciphertext === null) return null;
  return cipher.open({ keyId, ciphertext }, keyPlace(id)).catch(() => null);
}

type Change = Omit<Parameters<typeof writeOrganization>[1], "target">;

/**
 * Changes connections of an owner, by `writeOrganization` or `writeAgent`. Changes of an organization's connections and
 * of its agents' bindings run one after the other. Throws the 404 of the agent.
 */
export function writeConnections<T>(
  ctx: Ctx,
  slug: string | null,
  { name, ...change }: Change & { name: string },
  fn: (tx: Db, home: Home) => Promise<T>,
): Promise<T> {
  if (slug === null) return writeOrganization(ctx, { ...change, target: name }, (tx) => fn(tx, null));
  // The same object, to which `fn` may add.
  const summary = Object.assign(change.summary ?? {}, { name });
  const lock = (tx: Db) => lockOrganization(tx, ctx.membership.organizationId);
  return writeAgent(ctx, slug, { ...change, summary, lock }, fn);
}
