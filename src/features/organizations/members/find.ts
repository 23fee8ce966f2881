import { and, eq } from "drizzle-orm";
import type { Ctx } from "../../../context/ctx.ts";
import type { Membership } from "../../../context/membership.ts";
import { notFound } from "../../../core/errors.ts";
import type { Db } from "../../../db/client.ts";
import { hasId } from "../../../db/fragments.ts";
import { members, users } from "../../../db/schema.ts";
import { customRoleOf } from "../../../db/standing.ts";
import type { Member } from "./schema.ts";

/** The columns of `users` in every response about a member. */
export const accountColumns = { userId: users.id, email: users.email, name: users.name };

/** The members of all organizations. Every caller limits this to one organization. */
export function selectMembers(db: Db) {
  return db
    .select({
      ...accountColumns,
      roleKey: members.roleKey,
      customRole: customRoleOf(members.organizationId, members.roleKey),
      passwordSetBy: users.passwordSetBy,
    })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId));
}

type Row = Awaited<ReturnType<typeof selectMembers>>[number];

/** A member in the API form. */
export function toMember({ passwordSetBy, customRole: _, ...member }: Row): Member {
  return { ...member, ...(passwordSetBy === null ? {} : { passwordPending: true }) };
}

/** A member of the request's organization. Throws the same 404 for an unknown user and for one of another organization. */
export async function findMember({ membership }: Ctx, db: Db, userId: string): Promise<Row> {
  const [member] = await selectMembers(db).where(isMember(membership, userId));
  if (!member) throw notFound("Member");
  return member;
}

/** Whether a user is a member of the request's organization: a condition on `members`. */
export const isMember = ({ organizationId }: Membership, userId: string) =>
  and(eq(members.organizationId, organizationId), hasId(members.userId, userId));
