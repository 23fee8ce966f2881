import type { Ctx } from "../../context.ts";
import { notFound } from "../../core/errors.ts";
import type { ActiveOrganization } from "./schema.ts";
import { userOf } from "./user.ts";

const choose = `
update access_tokens t set active_organization_id = o.id
from members m join organizations o on o.id = m.organization_id join users u on u.id = m.user_id
where t.id = $1 and m.user_id = t.user_id and o.slug = $2
  and (u.password_organization is null or u.password_organization = o.id)
returning o.slug, o.name, m.role_key as "roleKey"`;

/**
 * Makes an organization the one that the session means when a request names none. Throws the 404 for one that the user
 * does not belong to, or does not reach before choosing a password.
 */
export async function chooseOrganization(ctx: Ctx, slug: string): Promise<ActiveOrganization> {
  const [organization] = await ctx.database.query<ActiveOrganization>(choose, [userOf(ctx).sessionId, slug]);
  if (!organization) throw notFound("Organization");
  return organization;
}
