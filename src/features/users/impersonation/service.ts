import { eq } from "drizzle-orm";
import { audit } from "../../../context/audit.ts";
import type { Ctx } from "../../../context/ctx.ts";
import { unknownToken } from "../../../context/standing.ts";
import { newToken } from "../../../core/credentials/tokens.ts";
import { EngineError } from "../../../core/errors.ts";
import { newId } from "../../../core/ids.ts";
import { accessTokens } from "../../../db/schema.ts";
import { userOf } from "../../account/index.ts";
import { logsOf, writeUser } from "../write.ts";
import type { Impersonation, ImpersonationToken } from "./schema.ts";

/**
 * Issues a token with which the caller sees what a user sees; only a digest is stored. Throws 404 for the user, 403 for
 * a Platform Admin, 409 for an inactive user.
 */
export async function impersonate(
  ctx: Ctx,
  id: string,
  { reason, minutes = 30 }: Impersonation,
): Promise<ImpersonationToken> {
  const { id: createdBy, tokenId } = userOf(ctx);
  const { token, digest } = await newToken("impersonation");
  const now = ctx.clock.now();
  const expiresAt = new Date(now + minutes * 60_000);
  const summary = { reason, expiresAt: expiresAt.toISOString() };
  await writeUser(ctx, id, { action: "impersonation.start", summary }, async (tx, user) => {
    if (user.isPlatformAdmin) throw new EngineError("forbidden", "A Platform Admin can't be impersonated");
    if (!user.active) throw new EngineError("conflict", "The user is not active");
    // Locked, so that the end of the session at the same time ends this one too.
    const [session] = await tx
      .select({ id: accessTokens.id })
      .from(accessTokens)
      .where(eq(accessTokens.id, tokenId))
      .for("share");
    if (!session) throw unknownToken();
    const life = { createdAt: new Date(now), expiresAt };
    await tx
      .insert(accessTokens)
      .values({ ...life, id: newId(), kind: "impersonation", digest, userId: user.id, createdBy });
  });
  return { token, expiresAt: summary.expiresAt };
}

/** Ends the impersonation of this request; does nothing for a session of one's own. */
export async function stopImpersonating(ctx: Ctx): Promise<void> {
  const actor = userOf(ctx);
  if (!actor.impersonator) return;
  const event = { action: "impersonation.end", target: actor.email, actor, request: ctx.request };
  await ctx.database.transaction(async (tx) => {
    const own = eq(accessTokens.id, actor.tokenId);
    const ended = await tx.delete(accessTokens).where(own).returning({ id: accessTokens.id });
    // Of two requests at the same time, one ends it.
    if (ended.length === 0) return;
    const [first, ...others] = (await logsOf(tx, actor.id)).map((organizationId) => ({ ...event, organizationId }));
    if (first) await audit(tx, first, ...others);
  });
}
