import { and, eq, type SQL } from "drizzle-orm";
import { audit } from "../../../context/audit.ts";
import type { Ctx } from "../../../context/ctx.ts";
import { EngineError, notFound } from "../../../core/errors.ts";
import { isUuid, newId } from "../../../core/ids.ts";
import type { Db } from "../../../db/client.ts";
import { hasId } from "../../../db/fragments.ts";
import { unlessDeadlocked } from "../../../db/retry.ts";
import { afterMembershipsOf, invitations, members, users } from "../../../db/schema.ts";
import { enqueue } from "../../../jobs/enqueue.ts";
import { isLive, userOf } from "../../account/index.ts";
import { requireGrantable } from "../roles/grants.ts";
import { lockOrganization, writeOrganization } from "../write.ts";
import { isValid, momentOf, ofHolder, selectInvitations, toWire } from "./find.ts";
import { invitationMail } from "./mail.ts";
import type { Invitation, InvitationAnswered, Invited, SentInvitation } from "./schema.ts";

const days = 14;

/**
 * Invites the holder of an account to the request's organization, or renews the invitation with this role. In the managed
 * edition a job mails the holder. The result and the audit log contain nothing about the account that the caller did not
 * give. Throws the 409 for a member, and as `requireGrantable` does.
 */
export async function invite(ctx: Ctx, { email, roleKey }: { email: string; roleKey: string }): Promise<Invited> {
  const { actor, membership } = ctx;
  const { organizationId } = membership;
  const { now: createdAt } = momentOf(ctx);
  const expiresAt = new Date(createdAt.getTime() + days * 24 * 60 * 60 * 1000);
  const by = {
    invitedByUser: actor.type === "user" ? actor.id : null,
    invitedByKey: actor.type === "key" ? actor.id : null,
  };
  const offer = { roleKey, ...by, createdAt, expiresAt };
  const summary = { roleKey, expiresAt: expiresAt.toISOString() };
  await writeOrganization(ctx, { action: "invitation.create", target: email, summary }, async (tx) => {
    await requireGrantable(tx, ctx, roleKey);
    const here = and(eq(members.userId, users.id), eq(members.organizationId, organizationId));
    const [account] = await tx
      .select({ id: users.id, roleKey: members.roleKey })
      .from(users)
      .leftJoin(members, here)
      .where(eq(users.email, email));
    if (!account) throw notFound("Account");
    if (account.roleKey !== null) throw new EngineError("conflict", `${email} is a member already`);
    const stored = await tx
      .insert(invitations)
      .values({ id: newId(), organizationId, userId: account.id, ...offer })
      .onConflictDoUpdate({ target: [invitations.userId, invitations.organizationId], set: offer })
      .returning({ id: invitations.id });
    if (!ctx.options.edition.has("administration")) return;
    for (const { id } of stored) await enqueue(tx, invitationMail.of({ id }));
  });
  ctx.notify.publish("work-due", "");
  return { invited: true };
}

async function selectValid(ctx: Ctx, which: SQL | undefined) {
  const moment = momentOf(ctx);
  return (await selectInvitations(ctx.db, moment, which)).filter((invitation) => isValid(invitation, moment));
}

/** The valid invitations of the request's organization. */
export async function listSent(ctx: Ctx): Promise<SentInvitation[]> {
  const own = eq(invitations.organizationId, ctx.membership.organizationId);
  const rows = await selectValid(ctx, own);
  return rows.map((row) => ({ ...toWire(row), email: row.email }));
}

/** Withdraws an invitation. Throws the 404. */
export async function withdraw(ctx: Ctx, id: string): Promise<void> {
  const own = and(hasId(invitations.id, id), eq(invitations.organizationId, ctx.membership.organizationId));
  const [found] = await selectInvitations(ctx.db, momentOf(ctx), own);
  if (!found) throw notFound("Invitation");
  const change = { action: "invitation.delete", target: found.email, summary: { roleKey: found.roleKey } };
  await writeOrganization(ctx, change, async (tx) => {
    const gone = await tx.delete(invitations).where(own).returning({ id: invitations.id });
    if (gone.length === 0) throw notFound("Invitation");
  });
}

/** The invitations that the caller may accept. */
export async function listReceived(ctx: Ctx): Promise<Invitation[]> {
  const rows = await selectValid(ctx, ofHolder(userOf(ctx).id));
  return rows.map((row) => ({
    ...toWire(row),
    organization: { slug: row.organization.slug, name: row.organization.name },
  }));
}

/** Accepts or declines an invitation. Throws the 404 for a missing or invalid one, and for another person's. */
export async function answerInvitation(ctx: Ctx, id: string, accept: boolean): Promise<InvitationAnswered> {
  if (!isUuid(id)) throw notFound("Invitation");
  return unlessDeadlocked(() => ctx.database.transaction((tx) => answerOnce(tx, ctx, id, accept)));
}

async function answerOnce(tx: Db, ctx: Ctx, id: string, accept: boolean): Promise<InvitationAnswered> {
  const user = userOf(ctx);
  const moment = momentOf(ctx);
  const own = and(eq(invitations.id, id), ofHolder(user.id), isLive(ctx));
  const [offered] = await selectInvitations(tx, moment, own);
  if (!offered) throw notFound("Invitation");
  const { organization } = offered;
  // Roles change under this lock, so the inviter's role is the current one when the membership begins.
  await lockOrganization(tx, organization.id);
  const [found] = await selectInvitations(tx, moment, own).for("update", { of: invitations });
  if (!found || !isValid(found, moment)) throw notFound("Invitation");
  const { roleKey } = found;
  await tx.delete(invitations).where(eq(invitations.id, id));
  const action = accept ? "invitation.accept" : "invitation.decline";
  // The audit log does not name a person who declines, and does not contain the IP address, which only a user's first
  // organization may see.
  const actor = accept ? user : ({ type: "system", id: null, name: null } as const);
  const request = { id: ctx.request.id, ip: "" };
  const entry = { action, target: user.email, organizationId: organization.id, actor, request };
  await audit(tx, { ...entry, summary: { roleKey } });
  if (!accept) return { accepted: false };
  const joined = { organizationId: organization.id, userId: user.id, roleKey, createdAt: afterMembershipsOf(user.id) };
  await tx.insert(members).values(joined).onConflictDoNothing();
  return { accepted: true, organization: { slug: organization.slug, name: organization.name, roleKey } };
}

/**
 * Deletes all invitations of an account, since they were for its former holder. The log of each inviting organization
 * notes this, without the person and the address.
 */
export async function endOffersTo(tx: Db, ctx: Ctx, { id, email }: { id: string; email: string }): Promise<void> {
  const { organizationId, roleKey } = invitations;
  const gone = await tx.delete(invitations).where(eq(invitations.userId, id)).returning({ organizationId, roleKey });
  const actor = { type: "system", id: null, name: null } as const;
  const entry = { action: "invitation.delete", target: email, actor, request: { id: ctx.request.id, ip: "" } };
  const [first, ...others] = gone.map(({ roleKey, ...offer }) => ({ ...entry, ...offer, summary: { roleKey } }));
  if (first) await audit(tx, first, ...others);
}
