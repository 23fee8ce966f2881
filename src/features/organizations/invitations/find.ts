import { and, asc, eq, gt, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import { isRoleKey, roles } from "../../../core/credentials/permissions.ts";
import { writeArray } from "../../../db/arrays.ts";
import type { Db } from "../../../db/client.ts";
import { accessTokens, invitations, members, organizations, users } from "../../../db/schema.ts";

const inviter = alias(members, "inviter");
const person = alias(users, "person");
const key = alias(accessTokens, "key");

const managers = Object.keys(roles).filter((role) => isRoleKey(role) && roles[role].has("org.member:manage"));

/**
 * Whether an invitation is valid: it has not expired, and its author still has the permission. Only an Owner, not a
 * key, may offer the role of an Owner.
 */
export function standing(now: Date): SQL | undefined {
  const { organizationId, roleKey, invitedByUser, invitedByKey } = invitations;
  const byUser = sql`exists (
    select 1 from ${members} ${inviter}
    where ${inviter.userId} = ${invitedByUser} and ${inviter.organizationId} = ${organizationId}
      and (${inviter.roleKey} = 'owner'
        or ${roleKey} <> 'owner' and ${inviter.roleKey} = any(${writeArray(managers)}::text[])))`;
  const byKey = sql`${roleKey} <> 'owner' and exists (
    select 1 from ${accessTokens} ${key}
    where ${key.id} = ${invitedByKey} and (${key.expiresAt} is null or ${key.expiresAt} > ${now.toISOString()}))`;
  return and(gt(invitations.expiresAt, now), sql`(${byUser} or ${byKey})`);
}

/**
 * Whether the account's holder may see an invitation. While somebody else knows the password, it is hidden, since that
 * person could join in the holder's place.
 */
export const ofHolder = (userId: string): SQL | undefined =>
  and(eq(invitations.userId, userId), sql`${users.passwordOrganization} is null`);

/** Invitations in the order of their creation, with the fields of their API forms. */
export function selectInvitations(db: Db, which: SQL | undefined) {
  return db
    .select({
      id: invitations.id,
      roleKey: invitations.roleKey,
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
    .leftJoin(key, eq(key.id, invitations.invitedByKey))
    .where(which)
    .orderBy(asc(invitations.createdAt), asc(invitations.id));
}

type Row = Awaited<ReturnType<typeof selectInvitations>>[number];

/** The fields that both sides of an invitation see. */
export function toWire({ id, roleKey, invitedBy, createdAt, expiresAt }: Row) {
  return { id, roleKey, invitedBy, createdAt: createdAt.toISOString(), expiresAt: expiresAt.toISOString() };
}
