import { sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { ThrottleWindow } from "../../core/limits/throttle.ts";
import { fields, orNull, type RowOf } from "../../db/fragments.ts";
import { accessTokens, firstOrganization, organizations, users } from "../../db/schema.ts";
import { liveToken, reached, reachedOrganization, standing } from "../../db/standing.ts";
import { statement } from "../../db/statement.ts";
import { upsertThrottle } from "../../db/throttle.ts";

const known = alias(accessTokens, "known");

const impersonator = alias(users, "impersonator");

/** The fields of a known token, and of its caller. */
const caller = fields({
  id: known.id,
  kind: known.kind,
  name: known.name,
  scope: known.scope,
  usedAt: sql<number | null>`(extract(epoch from ${known.lastUsedAt}) * 1000)::float8`,
  userId: known.userId,
  userName: orNull(users.name),
  email: orNull(users.email),
  impersonatorId: orNull(impersonator.id),
  impersonatorName: orNull(impersonator.name),
  organizationId: orNull(reached.organization.id),
  organizationSlug: orNull(reached.organization.slug),
  organizationFirst: sql<boolean | null>`${reached.organization.id} = (select id from first)`,
  ...standing,
});

export type Caller = RowOf<typeof caller>;

/**
 * Reads token, user, organization, role and workspaces, and counts the request, in one round trip. `slug` names the
 * organization; `count` is the counter of a known caller, `stranger` that of an unknown token. On a route of the
 * installation, a request that names no organization is for the first one. Such routes have their own counter, so that
 * a caller who used up the policy `rateLimit` can still change it.
 */
export const lookup = statement(
  {
    digest: "bytea",
    slug: "text | null",
    now: "timestamptz",
    resetsAt: "timestamptz",
    stranger: "text",
    installation: "boolean",
    administration: "boolean",
    count: "text",
  },
  ({ digest, slug, now, resetsAt, stranger, installation, administration, count }) => {
    const key = sql`coalesce(
      (select ${count} || coalesce(${known.userId}, ${known.id}) from ${known}), ${stranger})`;
    const isFirst = sql`${organizations.id} = (select id from first)`;
    const which = sql`case when ${slug} is not null then ${organizations.slug} = ${slug}
      when ${installation} then ${isFirst} else true end`;
    // Found by their ids, since an installation may have thousands.
    const named = sql`(select ${organizations.id} from ${organizations} where ${organizations.slug} = ${slug})`;
    const few = sql`array[${named}, ${known.activeOrganizationId}, (select id from first)]`;
    const beyond = sql`${organizations.id} = any(${few}) and (${administration} or (${installation} and ${isFirst}))`;
    return sql<ThrottleWindow & (Caller | { id: null })>`
    with ${known} as (
      select * from ${accessTokens} where ${accessTokens.digest} = ${digest} and ${liveToken(accessTokens, now, administration)}
    ), calls as (${upsertThrottle({ key, now, resetsAt })}
    ), first as (${firstOrganization}
    )
    select ${caller}, calls.count, calls.resets_at_ms
    from calls
    left join ${known} on true
    left join ${users} on ${users.id} = ${known.userId}
    left join ${users} ${impersonator}
      on ${impersonator.id} = ${known.createdBy} and ${known.kind} = 'impersonation'
    left join lateral ${reachedOrganization({ user: users, token: known }, { which, beyond })} on true`;
  },
);
