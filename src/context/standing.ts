import { and, eq, sql } from "drizzle-orm";
import { type Standing, sameRights } from "../core/credentials/rights.ts";
import { EngineError, notFound } from "../core/errors.ts";
import type { Db } from "../db/client.ts";
import { accessTokens, users } from "../db/schema.ts";
import { liveToken, organizationWithId, reachedOrganization, standing } from "../db/standing.ts";
import { type Ctx, isAdministered } from "./ctx.ts";
import { type Membership, membershipIn } from "./membership.ts";

/**
 * Checks the caller's rights again: a body may arrive long after its head was admitted, and a change may wait for its
 * lock. Throws the 401, 404 and 403 that a new request would get.
 */
export async function requireStanding(db: Db, ctx: Ctx): Promise<void> {
  if (sameRights(membershipNow(ctx, await readStanding(db, ctx)), ctx.membership)) return;
  throw new EngineError("forbidden", "Your rights changed while this request was on its way: send it again");
}

/** `requireStanding`, for actions that need no organization. Throws the 401. */
export async function requireToken(db: Db, ctx: Ctx): Promise<void> {
  if (ctx.actor.type !== "system" && !(await readStanding(db, ctx))) throw unknownToken();
}

/**
 * The actor's current membership, from the stored standing; undefined stands for a token that was deleted or has
 * expired. Throws the 401 and the 404 that a new request would get.
 */
export function membershipNow({ actor, membership, options }: Ctx, stored: Standing | undefined): Membership {
  if (actor.type === "system") return membership;
  if (!stored) throw unknownToken();
  const current = membershipIn(membership, stored, options.edition);
  if (current.role === null && current.permissions.size === 0) throw notFound("Organization");
  return current;
}

async function readStanding(db: Db, ctx: Ctx): Promise<Standing | undefined> {
  const tokenId = tokenIdOf(ctx);
  if (tokenId === null) return;
  const administration = isAdministered(ctx);
  const organization = organizationWithId(ctx.membership.organizationId, administration);
  const [stored] = await db
    .select(standing)
    .from(accessTokens)
    .leftJoin(users, eq(users.id, accessTokens.userId))
    .leftJoinLateral(reachedOrganization({ user: users, token: accessTokens }, organization), sql`true`)
    .where(and(eq(accessTokens.id, tokenId), liveToken(accessTokens, new Date(ctx.clock.now()), administration)));
  return stored;
}

/** The id of the token that authenticated the request; null for the engine itself. */
export function tokenIdOf({ actor }: Ctx): string | null {
  return actor.type === "user" ? actor.tokenId : actor.id;
}

/** The 401 for an unknown token. */
export const unknownToken = () => new EngineError("unauthorized", "Invalid or expired credentials");
