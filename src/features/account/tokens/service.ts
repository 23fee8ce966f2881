import { and, desc, eq, gt, type SQL } from "drizzle-orm";
import type { Ctx } from "../../../context/ctx.ts";
import { unknownToken } from "../../../context/standing.ts";
import type { Permission } from "../../../core/credentials/permissions.ts";
import { newToken } from "../../../core/credentials/tokens.ts";
import { EngineError, notFound } from "../../../core/errors.ts";
import { newId } from "../../../core/ids.ts";
import type { Db } from "../../../db/client.ts";
import { hasId } from "../../../db/fragments.ts";
import { accessTokens, members, organizations, users } from "../../../db/schema.ts";
import { isPlatformAdmin, reachable } from "../../../db/standing.ts";
import { recordEvent } from "../audit.ts";
import { isLive } from "../sessions.ts";
import { userOf } from "../user.ts";
import { expiryOf, mostTokens } from "./rules.ts";
import type { CreatedToken, NewToken, PersonalToken } from "./schema.ts";

/** How many characters of a token lists show: enough to recognise it, far too few to guess it. */
const prefixLength = 10;

/** The caller's personal tokens that have not expired, the newest first. */
export async function listTokens(ctx: Ctx): Promise<PersonalToken[]> {
  const { id, name, prefix, scope, permissions, expiresAt, lastUsedAt, createdAt } = accessTokens;
  const rows = await ctx.db
    .select({
      ...{ id, name, prefix, scope, permissions, expiresAt, lastUsedAt, createdAt },
      organization: { slug: organizations.slug, name: organizations.name },
    })
    .from(accessTokens)
    .leftJoin(organizations, eq(organizations.id, accessTokens.organizationId))
    .where(liveTokens(ctx))
    .orderBy(desc(createdAt), desc(id));
  return rows.map(({ organization, ...row }) => ({
    id: row.id,
    name: row.name ?? "",
    prefix: row.prefix ?? "",
    scope: row.scope ?? "organization",
    organization,
    permissions: row.permissions as Permission[] | null,
    expiresAt: (row.expiresAt ?? row.createdAt).toISOString(),
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
  }));
}

/**
 * Creates a personal token, which only this result contains. Throws the 400 for an expiry that is past or too late, the
 * 403 for a scope that is not the caller's, and the 409 for too many tokens, for a caller who is no member of the
 * request's organization, and while somebody else knows the caller's password: the token would outlive it.
 */
export async function createToken(ctx: Ctx, input: NewToken): Promise<CreatedToken> {
  const { name, scope = "organization" } = input;
  const createdAt = new Date(ctx.clock.now());
  const expiresAt = expiryOf(createdAt, scope, input.expiresAt);
  const permissions = input.permissions ? [...new Set(input.permissions)] : null;
  const { token, digest } = await newToken("personal");
  const holder = userOf(ctx);
  const shown = { id: newId(), name, prefix: token.slice(0, prefixLength), scope, permissions };
  const organization = await ctx.database.transaction(async (tx) => {
    await lockHolder(tx, ctx, scope);
    const own = scope === "organization" ? await lockMembership(tx, ctx) : null;
    const organizationId = own?.id ?? null;
    const row = {
      ...shown,
      kind: "personal",
      digest,
      userId: holder.id,
      organizationId,
      expiresAt,
      createdAt,
    } as const;
    await tx.insert(accessTokens).values(row);
    const { id, prefix } = shown;
    await recordEvent(tx, {
      action: "token.create",
      actor: holder,
      target: name,
      request: ctx.request,
      organizationIds: organizationId === null ? [] : [organizationId],
      summary: { id, prefix, scope, permissions, expiresAt: expiresAt.toISOString() },
    });
    return own && { slug: own.slug, name: own.name };
  });
  const times = { expiresAt: expiresAt.toISOString(), createdAt: createdAt.toISOString() };
  return { ...shown, organization, ...times, token };
}

/** Locks the caller's account, so that tokens are counted one after the other, and checks what it may create. */
async function lockHolder(tx: Db, ctx: Ctx, scope: PersonalToken["scope"]): Promise<void> {
  const own = eq(users.id, userOf(ctx).id);
  await tx.select({ id: users.id }).from(users).where(own).for("no key update");
  // Read under the lock: the session may have ended meanwhile.
  const { passwordSetBy } = users;
  const [account] = await tx
    .select({ passwordSetBy, isAdmin: isPlatformAdmin(users) })
    .from(users)
    .where(and(own, isLive(ctx)));
  if (!account) throw unknownToken();
  if (account.passwordSetBy !== null) {
    throw new EngineError("conflict", "Somebody else chose your password: choose another one first");
  }
  if (scope === "installation" && !account.isAdmin) {
    throw new EngineError("forbidden", "Only a Platform Admin may create a token that works across organizations");
  }
  if ((await tx.$count(accessTokens, liveTokens(ctx))) >= mostTokens) {
    throw new EngineError("conflict", `You have ${mostTokens} personal tokens: delete one first`);
  }
}

/** The request's organization. Locks the caller's membership, with which the token ends. */
async function lockMembership(tx: Db, ctx: Ctx): Promise<{ id: string; slug: string; name: string }> {
  const { organizationId, organizationSlug } = ctx.membership;
  const { id, slug, name } = organizations;
  const [own] = await tx
    .select({ id, slug, name })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .innerJoin(organizations, eq(id, members.organizationId))
    .where(and(eq(members.userId, userOf(ctx).id), eq(id, organizationId), reachable))
    .for("share", { of: members });
  if (own) return own;
  const reason =
    organizationSlug === ""
      ? "You belong to no organization"
      : `You are no member of the organization ${organizationSlug}`;
  throw new EngineError("conflict", `${reason}: a token has its holder's role there`);
}

/** Deletes a personal token of the caller. Throws the 404. */
export async function deleteToken(ctx: Ctx, id: string): Promise<void> {
  const actor = userOf(ctx);
  await ctx.database.transaction(async (tx) => {
    const { name, prefix, organizationId } = accessTokens;
    const [gone] = await tx
      .delete(accessTokens)
      .where(and(liveTokens(ctx), hasId(accessTokens.id, id)))
      .returning({ name, prefix, organizationId });
    if (!gone) throw notFound("Token");
    await recordEvent(tx, {
      action: "token.delete",
      actor,
      target: gone.name ?? "",
      request: ctx.request,
      organizationIds: gone.organizationId === null ? [] : [gone.organizationId],
      summary: { id, prefix: gone.prefix },
    });
  });
}

/** The caller's personal tokens that have not expired. */
function liveTokens(ctx: Ctx): SQL | undefined {
  const own = and(eq(accessTokens.kind, "personal"), eq(accessTokens.userId, userOf(ctx).id));
  return and(own, gt(accessTokens.expiresAt, new Date(ctx.clock.now())));
}
