import { and, desc, eq, gt, ne, or, type SQL, sql } from "drizzle-orm";
import { type Ctx, isAdministered, type Services } from "../../context/ctx.ts";
import { newToken, sessionSeconds } from "../../core/credentials/tokens.ts";
import { notFound } from "../../core/errors.ts";
import { isUuid, newId } from "../../core/ids.ts";
import { clip, storable } from "../../core/text/text.ts";
import type { Db } from "../../db/client.ts";
import { accessTokens } from "../../db/schema.ts";
import { liveToken } from "../../db/standing.ts";
import { organizationsOf, recordEvent } from "./audit.ts";
import type { Session } from "./schema.ts";
import { userOf } from "./user.ts";

/** The most sessions in the list: a script that signs in for every request may have thousands. */
const listed = 1000;

/** Where a sign-in came from, as shown in the list of sessions. */
export interface Client {
  ip: string;
  userAgent: string;
}

/** Opens a session and returns its token; only a digest of the token is stored. */
export async function createSession(
  { clock, database }: Services,
  userId: string,
  { ip, userAgent }: Client,
  db: Db = database.db,
): Promise<string> {
  const { token, digest } = await newToken("session");
  const now = clock.now();
  await db.insert(accessTokens).values({
    id: newId(),
    kind: "session",
    digest,
    userId,
    ip,
    userAgent: clip(storable(userAgent), 512),
    expiresAt: new Date(now + sessionSeconds * 1000),
    lastUsedAt: new Date(now),
    createdAt: new Date(now),
  });
  return token;
}

/** The user's live sessions, the newest first; at most 1000 of them. */
export async function listSessions(ctx: Ctx): Promise<Session[]> {
  const { tokenId } = userOf(ctx);
  const { id, ip, userAgent, createdAt, lastUsedAt } = accessTokens;
  // A live session always has an expiry.
  const expiresAt = sql<Date>`${accessTokens.expiresAt}`.mapWith(accessTokens.expiresAt);
  const rows = await ctx.db
    .select({ id, ip, userAgent, createdAt, lastUsedAt, expiresAt })
    .from(accessTokens)
    .where(liveSessions(ctx))
    .orderBy(desc(createdAt), desc(id))
    .limit(listed);
  return rows.map((row) => ({
    id: row.id,
    current: row.id === tokenId,
    ip: row.ip ?? "",
    userAgent: row.userAgent ?? "",
    createdAt: row.createdAt.toISOString(),
    lastUsedAt: (row.lastUsedAt ?? row.createdAt).toISOString(),
    expiresAt: row.expiresAt.toISOString(),
  }));
}

/** Ends the session of this request. */
export async function signOut(ctx: Ctx): Promise<void> {
  await endSessions(ctx, eq(accessTokens.id, userOf(ctx).tokenId));
}

/** Ends one session of the user; `current`: it is this request's session. Throws the 404 unless it is live. */
export async function endSession(ctx: Ctx, id: string): Promise<{ current: boolean }> {
  if (!isUuid(id)) throw notFound("Session");
  const ended = await endSessions(ctx, eq(accessTokens.id, id));
  if (ended === 0) throw notFound("Session");
  return { current: id.toLowerCase() === userOf(ctx).tokenId };
}

/** Ends all sessions of the user except that of this request; returns their number. */
export function endOtherSessions(ctx: Ctx): Promise<number> {
  return endSessions(ctx, others(ctx));
}

/** `endOtherSessions` in a given transaction and without its audit entry, for a caller that writes its own entry. */
export async function deleteOtherSessions(ctx: Ctx, tx: Db): Promise<number> {
  return (await deleteSessions(ctx, tx, others(ctx))).length;
}

async function endSessions(ctx: Ctx, which: SQL): Promise<number> {
  const actor = userOf(ctx);
  return ctx.database.transaction(async (tx) => {
    const ended = await deleteSessions(ctx, tx, which);
    if (ended.length === 0) return 0;
    await recordEvent(tx, {
      action: "session.end",
      actor,
      target: actor.email,
      request: ctx.request,
      organizationIds: await organizationsOf(tx, actor.id),
      summary: { ended: ended.length, current: ended.some(({ id }) => id === actor.tokenId) },
    });
    return ended.length;
  });
}

/**
 * Ends the impersonations that a user began, and those in which the user is seen. They end with the sessions: a person who
 * signs out, or whose account somebody else had, leaves none behind.
 */
export async function endImpersonations(tx: Db, userId: string): Promise<void> {
  const { kind, createdBy } = accessTokens;
  const own = or(eq(createdBy, userId), eq(accessTokens.userId, userId));
  await tx.delete(accessTokens).where(and(eq(kind, "impersonation"), own));
}

/**
 * Deletes sessions and returns the live ones. Expired ones are deleted too, since they would be valid again after the
 * clock was set back.
 */
async function deleteSessions(ctx: Ctx, tx: Db, which: SQL): Promise<{ id: string }[]> {
  const { id, expiresAt } = accessTokens;
  const gone = await tx
    .delete(accessTokens)
    .where(and(ownSessions(ctx), which))
    .returning({ id, expiresAt });
  await endImpersonations(tx, userOf(ctx).id);
  return gone.filter((one) => one.expiresAt && one.expiresAt.getTime() > ctx.clock.now());
}

const others = (ctx: Ctx) => ne(accessTokens.id, userOf(ctx).tokenId);

/** Whether the request's session is live: it may end while the request waits for a lock. */
export const isLive = (ctx: Ctx) => sql`exists (
  select 1 from ${accessTokens} where ${accessTokens.id} = ${userOf(ctx).tokenId}
    and ${liveToken(accessTokens, new Date(ctx.clock.now()), isAdministered(ctx))})`;

const ownSessions = (ctx: Ctx) => and(eq(accessTokens.kind, "session"), eq(accessTokens.userId, userOf(ctx).id));

/** The live sessions of the calling user. Expired ones count as absent, and are deleted within an hour. */
const liveSessions = (ctx: Ctx) => and(ownSessions(ctx), gt(accessTokens.expiresAt, new Date(ctx.clock.now())));
