import type { Ctx } from "../../../context/ctx.ts";
import { randomToken } from "../../../core/ids.ts";
import { deleteSessionsOf, replacePassword } from "../../account/index.ts";
import { endOffersTo } from "../invitations/service.ts";
import { writeOrganization } from "../write.ts";
import { findMember } from "./find.ts";
import { lockManaged } from "./roles.ts";
import type { RenewedPassword } from "./schema.ts";

/**
 * Gives a member a generated password, which only this answer shows, and ends the member's sessions and the offers of
 * other organizations. Throws as `lockManaged` does.
 */
export async function renewPassword(ctx: Ctx, userId: string): Promise<RenewedPassword> {
  const { email } = await findMember(ctx, ctx.db, userId);
  const password = randomToken(12);
  // Hashed before the transaction begins, because hashing is slow and the transaction holds locks.
  const passwordHash = await ctx.passwords.hash(password);
  const setBy = { passwordSetBy: ctx.actor.id, passwordOrganization: ctx.membership.organizationId };
  const summary = { userId, sessionsEnded: 0 };
  await writeOrganization(ctx, { action: "password.renew", target: email, summary }, async (tx) => {
    await lockManaged(tx, ctx, userId);
    summary.sessionsEnded = await replacePassword(tx, { id: userId, email }, { passwordHash, ...setBy });
    await endOffersTo(tx, ctx, { id: userId, email });
  });
  return { password, sessionsEnded: summary.sessionsEnded };
}

/** Signs a member out everywhere; answers how many sessions there were. Throws as `lockManaged` does. */
export async function endMemberSessions(ctx: Ctx, userId: string): Promise<number> {
  const { email } = await findMember(ctx, ctx.db, userId);
  const summary = { userId, ended: 0 };
  const change = { action: "session.end", target: email, summary, unchanged: () => summary.ended === 0 };
  return writeOrganization(ctx, change, async (tx) => {
    await lockManaged(tx, ctx, userId);
    summary.ended = await deleteSessionsOf(tx, userId);
    return summary.ended;
  });
}
