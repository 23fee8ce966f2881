import { type Column, gt, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import { orNull } from "./fragments.ts";
import { members, organizations, users, workspaceMembers, workspaces } from "./schema.ts";

/** The columns of a caller: of a token and its user, or of nulls where one of them is missing. */
interface CallerColumns {
  user: Readonly<Record<"id" | "passwordOrganization", SQLWrapper>>;
  token: Readonly<Record<"kind" | "organizationId" | "activeOrganizationId", SQLWrapper>>;
}

const membership = alias(members, "membership");

/** The row of `reachedOrganization`: an organization, and the caller's membership in it. */
export const reached = { organization: alias(organizations, "reached"), member: alias(members, "reached") };

/**
 * The organization that a caller reaches among those that `which` (a condition on `organizations`) admits: a lateral
 * table `reached` with at most one row. Of several it is the active one, else the one joined first. A management key
 * reaches its own organization, as an Owner. Every check of a caller's rights reads them by this.
 */
export function reachedOrganization({ user, token }: CallerColumns, which: SQL): SQL {
  return sql`(
    select ${organizations.id}, ${organizations.slug}, ${membership.userId}, ${membership.roleKey}
    from (
      select ${members.organizationId}, ${members.userId}, ${members.roleKey}, ${members.createdAt} from ${members}
      where ${members.userId} = ${user.id} and ${isReachable(user)}
      union all
      select ${token.organizationId}, null, 'owner', null where ${token.kind} = 'management'
    ) ${membership}
    join ${organizations} on ${organizations.id} = ${membership.organizationId}
    where ${which}
    order by (${organizations.id} = ${token.activeOrganizationId}) desc nulls last, ${membership.createdAt},
      ${organizations.id}
    limit 1
  ) ${reached.member}`;
}

/** Whether a user's sessions may use a membership: a condition on `members`. */
const isReachable = ({ passwordOrganization }: Pick<CallerColumns["user"], "passwordOrganization">) =>
  sql`(${passwordOrganization} is null or ${passwordOrganization} = ${members.organizationId})`;

/** `isReachable` for the joined `users`. */
export const reachable = isReachable(users);

/** The fields of a `Standing`, from the row of `reachedOrganization`. */
export const standing = {
  role: orNull(reached.member.roleKey),
  workspaceIds: sql<string | null>`(
    select string_agg(${workspaces.id}::text, ',' order by ${workspaces.id}::text)
    from ${workspaceMembers} join ${workspaces} on ${workspaces.id} = ${workspaceMembers.workspaceId}
    where ${workspaceMembers.userId} = ${reached.member.userId}
      and ${workspaces.organizationId} = ${reached.organization.id})`,
};

/** Whether a token may be used at this time. */
export function liveToken({ expiresAt }: { expiresAt: Column }, now: Date | SQL): SQL {
  return sql`(${expiresAt} is null or ${gt(expiresAt, now)})`;
}
