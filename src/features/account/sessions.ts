import { eq } from "drizzle-orm";
import type { Ctx, Services } from "../../context.ts";
import { newId } from "../../core/ids.ts";
import { clip, storable } from "../../core/text.ts";
import { newToken, sessionSeconds } from "../../core/tokens.ts";
import type { Db } from "../../db/client.ts";
import { accessTokens } from "../../db/schema.ts";
import { recordEvent } from "./audit.ts";

/** Where a sign-in comes from, for the list of sessions. */
export interface Client {
  ip: string;
  userAgent: string;
}

/** Opens a session and answers its token, which is stored as a digest only. */
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

/** Ends the session of this call; its token is worthless from here on. */
export async function signOut(ctx: Ctx): Promise<void> {
  const { actor } = ctx;
  if (actor.type !== "user") return;
  await ctx.database.transaction(async (tx) => {
    await tx.delete(accessTokens).where(eq(accessTokens.id, actor.sessionId));
    await recordEvent(tx, { action: "session.end", actor, target: actor.email, request: ctx.request });
  });
}
