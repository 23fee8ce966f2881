import { and, asc, eq } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { notFound } from "../../core/errors.ts";
import { members, organizations, reachable, users } from "../../db/schema.ts";
import type { Me } from "./schema.ts";

/** The signed-in person of the call, with the organizations within reach. */
export async function readMe({ db, actor }: Ctx): Promise<Me> {
  if (actor.type !== "user") throw notFound("User");
  const rows = await db
    .select({
      id: users.id,
      email: users.email,
      name: users.name,
      onboarding: users.onboarding,
      passwordSetBy: users.passwordSetBy,
      organization: { slug: organizations.slug, name: organizations.name },
      roleKey: members.roleKey,
    })
    .from(users)
    .leftJoin(members, and(eq(members.userId, users.id), reachable))
    .leftJoin(organizations, eq(organizations.id, members.organizationId))
    .where(eq(users.id, actor.id))
    .orderBy(asc(organizations.name), asc(organizations.slug));
  const [first] = rows;
  if (!first) throw notFound("User");
  const { id, email, name, onboarding, passwordSetBy } = first;
  const memberships = rows.flatMap(({ organization, roleKey }) =>
    organization && roleKey ? [{ ...organization, roleKey }] : [],
  );
  const required = passwordSetBy === null ? {} : { passwordChangeRequired: true as const };
  return { user: { id, email, name, onboarding, organizations: memberships, ...required } };
}
