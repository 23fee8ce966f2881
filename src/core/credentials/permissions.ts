const viewer = [
  "agent:read",
  "agent.prompt:read",
  "agent.tool:read",
  "agent.skill:read",
  "agent.channel:read",
  "agent.room:read",
  "agent.task:read",
  "agent.knowledge:read",
  "agent.governance:read",
  "agent.playground:use",
  "conversation:read",
  "memory:read",
  "analytics:read",
  "skill.catalog:read",
  "org:read",
] as const;

const member = [
  ...viewer,
  "agent:write",
  "agent.prompt:write",
  "agent.tool:write",
  "agent.skill:write",
  "agent.channel:write",
  "agent.room:write",
  "agent.task:write",
  "agent.knowledge:write",
  "agent.export:read",
  "memory:write",
] as const;

const admin = [
  ...member,
  "agent:delete",
  "agent.secret:read",
  "agent.secret:write",
  "agent.governance:write",
  "conversation:delete",
  "skill.catalog:write",
  "workspace.assignment:manage",
  "org.member:manage",
  "org.plugin:manage",
  "org.secret:read",
  "org.secret:write",
  "audit_log:read",
] as const;

const owner = [...admin, "org:write", "org.key:manage", "org.role:manage", "policy:manage"] as const;

/** All permissions of roles. */
export const permissions = owner;
export type Permission = (typeof owner)[number];
export const roleKeys = ["owner", "admin", "member", "viewer"] as const;
export type RoleKey = (typeof roleKeys)[number];

/** The permissions that the open edition does not have. */
export const managedPermissions: readonly Permission[] = ["org.role:manage"];

/** The permissions that no custom role has (managed M4). */
export const withheldPermissions: readonly Permission[] = [
  "policy:manage",
  "org.key:manage",
  "org.role:manage",
  "org:write",
];

/** The built-in roles and the permissions of each (decisions §2). */
export const roles: Record<RoleKey, ReadonlySet<Permission>> = {
  owner: new Set(owner),
  admin: new Set(admin),
  member: new Set(member),
  viewer: new Set(viewer),
};

export function isRoleKey(value: string): value is RoleKey {
  return Object.hasOwn(roles, value);
}
