import { asc, eq } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { notFound } from "../../core/errors.ts";
import { members, organizations, users } from "../../db/schema.ts";
import type { Me } from "./schema.ts";

/** The person behind the session, with all organizations they belong to. */
export async function readMe({ db, actor }: Ctx): Promise<Me> {
  if (actor.type !== "user") throw notFound("User");
  const rows = await db
    .select({
      id: users.id,
      email: users.email,
      name: users.name,
      onboarding: users.onboarding,
      organization: { slug: organizations.slug, name: organizations.name },
      roleKey: members.roleKey,
    })
    .from(users)
    .leftJoin(members, eq(members.userId, users.id))
    .leftJoin(organizations, eq(organizations.id, members.organizationId))
    .where(eq(users.id, actor.id))
    .orderBy(asc(organizations.name), asc(organizations.slug));
  const [first] = rows;
  if (!first) throw notFound("User");
  const { id, email, name, onboarding } = first;
  const memberships = rows.flatMap(({ organization, roleKey }) =>
    organization && roleKey ? [{ ...organization, roleKey }] : [],
  );
  return { user: { id, email, name, onboarding, organizations: memberships } };
}
