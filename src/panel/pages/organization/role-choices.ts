import type { Permission } from "../../data/session.ts";

/** A role of the organization, as people choose it. */
export interface RoleChoice {
  value: string;
  label: string;
  hint?: string;
  /** Whether the role reaches every workspace. Other roles reach the workspaces to which they are assigned. */
  reachesAll: boolean;
  /** The permissions of one of the organization's own roles. */
  permissions?: readonly Permission[];
}

/** The built-in roles, from the least permissions to the most (docs/teams.md). */
export const builtInRoles: readonly RoleChoice[] = [
  { value: "viewer", label: "Viewer", hint: "Reads everything, and uses the playground.", reachesAll: false },
  {
    value: "member",
    label: "Member",
    hint: "Changes agents too: prompts, tools, skills, channels.",
    reachesAll: false,
  },
  {
    value: "admin",
    label: "Admin",
    hint: "Also deletes agents, keeps secrets, members, workspaces and plugins.",
    reachesAll: true,
  },
  {
    value: "owner",
    label: "Owner",
    hint: "Also changes the organization and issues management keys.",
    reachesAll: true,
  },
];

/**
 * Those roles that a person with these permissions may give: nobody gives an own role of the organization with a permission that
 * they lack, and of the built-in ones only those who may change the organization (`org:write`) make Owners.
 */
export const rolesGivenBy = (roles: readonly RoleChoice[], may: (permission: Permission) => boolean) =>
  roles.filter(({ value, permissions = [] }) => permissions.every(may) && (value !== "owner" || may("org:write")));

/** The label of a role; its key for one that is not known. */
export const labelOf = (roles: readonly RoleChoice[], key: string) =>
  roles.find(({ value }) => value === key)?.label ?? key;

/** Whether the members with this role reach every workspace. */
export const reachesAll = (roles: readonly RoleChoice[], key: string) =>
  roles.some((role) => role.value === key && role.reachesAll);
