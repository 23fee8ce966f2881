import { and, asc, eq, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Services } from "../../../context/ctx.ts";
import { exceeding, rightsOf, rightsOfRole } from "../../../core/credentials/rights.ts";
import type { Edition } from "../../../core/edition.ts";
import type { Db } from "../../../db/client.ts";
import { accessTokens, invitations, organizations, users } from "../../../db/schema.ts";
import { customRoleOf, liveToken, organizationWithId, reachedOrganization, standing } from "../../../db/standing.ts";

/** The time and the edition in which an invitation is valid or not. */
interface Moment {
  now: Date;
  edition: Edition;
}

export const momentOf = ({ clock, options: { edition } }: Services): Moment => ({
  now: new Date(clock.now()),
  edition,
});

const person = alias(users, "person");
const key = alias(accessTokens, "key");

/**
 * Whether the account's holder may see an invitation. While somebody else knows the password, it is hidden, since that
 * person could join in the holder's place.
 */
export const ofHolder = (userId: string): SQL | undefined =>
  and(eq(invitations.userId, userId), sql`${users.passwordOrganization} is null`);

/** Invitations in the order of their creation, with the fields of their API forms and their inviters' standing. */
export function selectInvitations(db: Db, { now, edition }: Moment, which: SQL | undefined) {
  const administration = edition.has("administration");
  const inviter = reachedOrganization(
    { user: person, token: key },
    organizationWithId(invitations.organizationId, administration),
  );
  return db
    .select({
      ...standing,
      invitedByKey: invitations.invitedByKey,
      id: invitations.id,
      roleKey: invitations.roleKey,
      offeredRole: customRoleOf(invitations.organizationId, invitations.roleKey),
      invitedBy: sql<string>`coalesce(${person.name}, ${key.name}, '')`,
      createdAt: invitations.createdAt,
      expiresAt: invitations.expiresAt,
      email: users.email,
      organization: { id: organizations.id, slug: organizations.slug, name: organizations.name },
    })
    .from(invitations)
    .innerJoin(users, eq(users.id, invitations.userId))
    .innerJoin(organizations, eq(organizations.id, invitations.organizationId))
    .leftJoin(person, eq(person.id, invitations.invitedByUser))
    .leftJoin(key, and(eq(key.id, invitations.invitedByKey), liveToken(key, now, administration)))
    .leftJoinLateral(inviter, sql`true`)
    .where(which)
    .orderBy(asc(invitations.createdAt), asc(invitations.id));
}

type Row = Awaited<ReturnType<typeof selectInvitations>>[number];

/**
 * Whether an invitation is valid: it has not expired, and its inviter could still make it. Nobody offers what they lack;
 * only an Owner, not a key, may offer the role of an Owner.
 */
export function isValid(
  { invitedByKey, roleKey, offeredRole, expiresAt, ...inviter }: Row,
  { now, edition }: Moment,
): boolean {
  const rights = rightsOf(inviter, { first: false, edition });
  const offered = rightsOfRole(roleKey, offeredRole, edition);
  const offers = rights.permissions.has("org.member:manage") && offered && !exceeding(offered, rights);
  return expiresAt > now && Boolean(offers) && (roleKey !== "owner" || invitedByKey === null);
}

/** The fields that both sides of an invitation see. */
export function toWire({ id, roleKey, invitedBy, createdAt, expiresAt }: Row) {
  return { id, roleKey, invitedBy, createdAt: createdAt.toISOString(), expiresAt: expiresAt.toISOString() };
}
