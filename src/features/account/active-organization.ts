import { and, eq } from "drizzle-orm";
import type { Ctx } from "../../context/ctx.ts";
import { notFound } from "../../core/errors.ts";
import { accessTokens, members, organizations, reachable, users } from "../../db/schema.ts";
import type { ActiveOrganization } from "./schema.ts";
import { userOf } from "./user.ts";

/**
 * Makes an organization the one of the session's requests that name none. Throws the 404 for an organization that the
 * user does not belong to, or does not reach before choosing a password.
 */
export async function chooseOrganization(ctx: Ctx, slug: string): Promise<ActiveOrganization> {
  const [organization] = await ctx.db
    .update(accessTokens)
    .set({ activeOrganizationId: organizations.id })
    .from(members)
    .innerJoin(organizations, eq(organizations.id, members.organizationId))
    .innerJoin(users, eq(users.id, members.userId))
    .where(
      and(
        eq(accessTokens.id, userOf(ctx).sessionId),
        eq(members.userId, accessTokens.userId),
        eq(organizations.slug, slug),
        reachable,
      ),
    )
    .returning({ slug: organizations.slug, name: organizations.name, roleKey: members.roleKey });
  if (!organization) throw notFound("Organization");
  return organization;
}
