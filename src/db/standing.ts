import { type Column, gt, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { CustomRole } from "../core/credentials/rights.ts";
import { orNull } from "./fragments.ts";
import {
  accessTokens,
  customRoles,
  firstOrganization,
  members,
  organizations,
  users,
  workspaceMembers,
  workspaces,
} from "./schema.ts";

/** The columns of a caller: of a token and its user, or of nulls where one of them is missing. */
interface CallerColumns {
  user: Readonly<Record<"id" | "isPlatformAdmin" | "active" | "passwordOrganization", SQLWrapper>>;
  token: Readonly<Record<"kind" | "scope" | "permissions" | "organizationId" | "activeOrganizationId", SQLWrapper>>;
}

const membership = alias(members, "membership");

/** The row of `reachedOrganization`: an organization, the caller's membership in it, and the caller's user and token. */
export const reached = {
  organization: alias(organizations, "reached"),
  member: alias(members, "reached"),
  user: alias(users, "reached"),
  token: alias(accessTokens, "reached"),
};

/** Organizations that a request may mean: two conditions on `organizations`. */
interface Addressed {
  which: SQL;
  /** Of those, the few that a Platform Admin reaches without a membership. */
  beyond: SQL;
}

/** The organization with an id. `administration`: whether the feature is on. */
export function organizationWithId(id: SQLWrapper | string, administration: SQLWrapper | boolean): Addressed {
  const which = sql`${organizations.id} = ${id}`;
  return { which, beyond: sql`${which} and (${administration} or ${organizations.id} = (${firstOrganization}))` };
}

/**
 * The organization that a caller reaches among those that `which` admits: a lateral table `reached` with at most one
 * row. Of several it is the active one, else the one joined first, else one that a Platform Admin reaches. A management
 * key reaches its own organization, as an Owner; a personal token with the scope `organization` the one it was made for,
 * never as a Platform Admin. Every check of a caller's rights reads them by this.
 */
export function reachedOrganization({ user, token }: CallerColumns, { which, beyond }: Addressed): SQL {
  const bound = sql`${token.scope} is not distinct from 'organization'`;
  const isAdmin = sql`(${isPlatformAdmin(user)} and not ${bound})`;
  return sql`(
    select ${organizations.id}, ${organizations.slug}, ${organizations.name}, ${membership.userId},
      ${membership.roleKey}, ${isAdmin} as is_platform_admin, ${token.permissions}
    from (
      select ${members.organizationId}, ${members.userId}, ${members.roleKey}, ${members.createdAt} from ${members}
      where ${members.userId} = ${user.id} and ${isReachable(user)}
        and (not ${bound} or ${members.organizationId} = ${token.organizationId})
      union all
      select ${token.organizationId}, null, 'owner', null where ${token.kind} = 'management'
      union all
      select ${organizations.id}, null, null, null from ${organizations} where ${isAdmin} and ${beyond}
    ) ${membership}
    join ${organizations} on ${organizations.id} = ${membership.organizationId}
    where ${organizations.deletedAt} is null and ${which}
    order by (${organizations.id} = ${token.activeOrganizationId}) desc nulls last, (${membership.roleKey} is null),
      ${membership.createdAt}, ${organizations.id}
    limit 1
  ) ${reached.member}`;
}

/**
 * Whether a user is a Platform Admin. Whoever chose the password for the account of somebody else, and so knows it, must
 * not get the installation.
 */
export const isPlatformAdmin = (user: Omit<CallerColumns["user"], "id">) =>
  sql<boolean>`(${user.isPlatformAdmin} and ${user.active} and ${user.passwordOrganization} is null)`;

const admin = alias(users, "admin");

/** Whether any user is a Platform Admin, even one who may not sign in. */
export const governed = sql<boolean>`exists (select 1 from ${users} ${admin} where ${admin.isPlatformAdmin})`;

/** Whether a user's sessions may use a membership: a condition on `members`. */
const isReachable = ({ passwordOrganization }: Pick<CallerColumns["user"], "passwordOrganization">) =>
  sql`(${passwordOrganization} is null or ${passwordOrganization} = ${members.organizationId})`;

/** `isReachable` for the joined `users`. */
export const reachable = isReachable(users);

/** The organization's own role with this key, or null. */
export function customRoleOf(organizationId: SQLWrapper, roleKey: SQLWrapper): SQL<CustomRole | null> {
  const { permissions, allWorkspaces } = customRoles;
  return sql<CustomRole | null>`(
    select json_build_object('permissions', ${permissions}, 'allWorkspaces', ${allWorkspaces}) from ${customRoles}
    where ${customRoles.organizationId} = ${organizationId} and ${customRoles.key} = ${roleKey})`;
}

/** The fields of a `Standing`, from the row of `reachedOrganization`. */
export const standing = {
  role: orNull(reached.member.roleKey),
  customRole: customRoleOf(reached.organization.id, reached.member.roleKey),
  workspaceIds: sql<string | null>`(
    select string_agg(${workspaces.id}::text, ',' order by ${workspaces.id}::text)
    from ${workspaceMembers} join ${workspaces} on ${workspaces.id} = ${workspaceMembers.workspaceId}
    where ${workspaceMembers.userId} = ${reached.member.userId}
      and ${workspaces.organizationId} = ${reached.organization.id})`,
  isPlatformAdmin: orNull(reached.user.isPlatformAdmin),
  governed,
  narrowedTo: sql<string | null>`array_to_string(${reached.token.permissions}, ',')`,
};

const holder = alias(users, "holder");
const creator = alias(users, "creator");

/**
 * Whether a token may be used at this time: it has not expired, and its user is active. Personal tokens and
 * impersonations also need the feature `administration`. A token that works across organizations is that of a Platform
 * Admin, and an impersonation is of somebody who is none, by somebody who is one.
 */
export function liveToken(
  {
    kind,
    scope,
    userId,
    createdBy,
    expiresAt,
  }: Record<"kind" | "scope" | "userId" | "createdBy" | "expiresAt", Column>,
  now: Date | SQL,
  administration: boolean | SQL,
): SQL {
  return sql`((${expiresAt} is null or ${gt(expiresAt, now)})
    and (${kind} in ('session', 'management') or ${administration})
    and (${userId} is null or exists (select 1 from ${users} ${holder} where ${holder.id} = ${userId} and ${holder.active}
      and (${scope} is distinct from 'installation' or ${isPlatformAdmin(holder)})
      and (${kind} <> 'impersonation' or not ${holder.isPlatformAdmin})))
    and (${kind} <> 'impersonation' or exists (
      select 1 from ${users} ${creator} where ${creator.id} = ${createdBy} and ${isPlatformAdmin(creator)})))`;
}
