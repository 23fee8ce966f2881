import { and, eq } from "drizzle-orm";
import type { Ctx } from "../../../context/ctx.ts";
import type { Membership } from "../../../context/membership.ts";
import { notFound } from "../../../core/errors.ts";
import { isUuid } from "../../../core/ids.ts";
import type { Db } from "../../../db/client.ts";
import { members, users } from "../../../db/schema.ts";
import type { Member } from "./schema.ts";

/** The columns of `users` that every answer about a member shows. */
export const accountColumns = { userId: users.id, email: users.email, name: users.name };

/** The members of all organizations; every caller narrows it to one organization. */
export function selectMembers(db: Db) {
  return db
    .select({ ...accountColumns, roleKey: members.roleKey, passwordSetBy: users.passwordSetBy })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId));
}

type Row = Awaited<ReturnType<typeof selectMembers>>[number];

/** A member as the wire shows one. */
export function toMember({ passwordSetBy, ...member }: Row): Member {
  return { ...member, ...(passwordSetBy === null ? {} : { passwordPending: true }) };
}

/** A member of the addressed organization. Throws the same 404 for an unknown user and for a stranger. */
export async function findMember(
  { membership }: Ctx,
  db: Db,
  userId: string,
): Promise<{ email: string; roleKey: string }> {
  if (!isUuid(userId)) throw notFound("Member");
  const [member] = await selectMembers(db).where(isMember(membership, userId));
  if (!member) throw notFound("Member");
  return member;
}

/** The row of `members` that makes the user a member of the addressed organization. */
export const isMember = ({ organizationId }: Membership, userId: string) =>
  and(eq(members.organizationId, organizationId), eq(members.userId, userId));
