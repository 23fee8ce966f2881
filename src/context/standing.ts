import { and, eq, gt, isNull, or, sql } from "drizzle-orm";
import { EngineError, notFound } from "../core/errors.ts";
import type { Db } from "../db/client.ts";
import { accessTokens, members, workspaceIdsOf } from "../db/schema.ts";
import type { Actor, Ctx } from "./ctx.ts";
import { type Membership, membershipIn, type Standing, workspaceScope } from "./membership.ts";

/**
 * Checks the caller's rights again: a body may arrive long after its head was admitted, and a change may wait for its
 * lock. Throws the 401, 404 and 403 that a new request would get.
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

/** `requireStanding`, for actions that need no organization. Throws the 401. */
export async function requireToken(db: Db, ctx: Ctx): Promise<void> {
  if (ctx.actor.type !== "system" && !(await readStanding(db, ctx.actor, ctx))) throw unknownToken();
}

/** The caller's current membership, from the stored token. Throws the 401 and the 404 that a new request would get. */
export function membershipNow({ actor, membership }: Ctx, stored: Standing | undefined): Membership {
  if (actor.type === "system") return membership;
  const standing = requireStored(actor, stored);
  return actor.type === "user" ? membershipIn(membership, standing) : membership;
}

async function readStanding(
  db: Db,
  actor: Exclude<Actor, { type: "system" }>,
  { membership, clock }: Ctx,
): Promise<Standing | undefined> {
  const tokenId = actor.type === "user" ? actor.tokenId : actor.id;
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

/** Throws the 401 when the token was deleted, and the 404 when the user has left the organization. */
function requireStored(actor: Actor, standing: Standing | undefined): Standing {
  if (!standing) throw unknownToken();
  if (standing.role === null && actor.type === "user") throw notFound("Organization");
  return standing;
}

/** The 401 for an unknown token. */
export const unknownToken = () => new EngineError("unauthorized", "Invalid or expired credentials");
