import {
  isRoleKey,
  type Permission,
  permissions,
  type RoleKey,
  roles,
} from "../../src/core/credentials/permissions.ts";
import { newToken } from "../../src/core/credentials/tokens.ts";
import { newId, randomToken } from "../../src/core/ids.ts";
import { readPolicies } from "../../src/core/policies.ts";
import {
  accessTokens,
  agents,
  customRoles,
  installation,
  members,
  users,
  workspaceMembers,
  workspaces,
} from "../../src/db/schema.ts";
import { createSession } from "../../src/features/account/index.ts";
import { issueToken } from "../features/account/people.ts";
import { weather } from "../features/tools/plugins/weather.ts";
import { harness } from "../harness.ts";
import { reply, scriptedModel } from "../scripted-model.ts";

export const roleKeys = ["owner", "admin", "member", "viewer"] as const satisfies readonly RoleKey[];

const manager = (permission: Permission) => /^agent[.:]/.test(permission) && !/secret|delete/.test(permission);

/** Roles that both organizations made, in the managed edition. */
const ownRoles = {
  auditor: { permissions: ["audit_log:read", "analytics:read", "org:read"], allWorkspaces: false },
  support: { permissions: ["conversation:read", "conversation:delete", "agent:read"], allWorkspaces: true },
  builder: { permissions: permissions.filter(manager), allWorkspaces: false },
} as const satisfies Record<string, { permissions: readonly Permission[]; allWorkspaces: boolean }>;
type OwnRole = keyof typeof ownRoles;

export const permissionsOf = (role: RoleKey | OwnRole): ReadonlySet<Permission> =>
  isRoleKey(role) ? roles[role] : new Set(ownRoles[role].permissions);

/** A workspace of an organization, with an agent in it. */
export interface Home {
  id: string;
  slug: string;
  workspaceId: string;
  agentId: string;
  agentSlug: string;
}

export interface Person {
  id: string;
  email: string;
  role: RoleKey | OwnRole;
  home: Home;
  isPlatformAdmin?: true;
}

export type World = Awaited<ReturnType<typeof createWorld>>;

/** No test here should meet the rate limit, however much a route makes the server read from the database. */
const calm = { rateLimit: { limit: 1_000_000, windowSeconds: 3_600 } };

/**
 * Two organizations with two workspaces each and an agent in all four, and functions that make a request's objects.
 * They write to the database directly, before the first request, without permissions.
 */
export async function createWorld(options: Parameters<typeof harness>[0] = {}) {
  // Requests give agents keys of providers, which no test should reach.
  const h = await harness({ model: scriptedModel(() => reply("Hi.")), plugins: [weather()], ...options });
  const { db } = h.services.database;
  const settle = () => h.services.policies.set(readPolicies(calm).policies);
  settle();
  await db
    .insert(installation)
    .values({ id: 1, policies: calm })
    .onConflictDoUpdate({ target: installation.id, set: { policies: calm } });

  const agent = async ({ id, workspaceId }: Pick<Home, "id" | "workspaceId">) => {
    const agentId = newId();
    const agentSlug = fresh("agent");
    await db.insert(agents).values({ id: agentId, slug: agentSlug, name: agentSlug, organizationId: id, workspaceId });
    return { agentId, agentSlug };
  };
  const workspace = async ({ id }: Pick<Home, "id">) => {
    const workspaceId = newId();
    await db.insert(workspaces).values({ id: workspaceId, organizationId: id, name: fresh("workspace") });
    return workspaceId;
  };
  const person = async (role: RoleKey | OwnRole, home: Home, { reach = true } = {}): Promise<Person> => {
    const id = newId();
    const email = `${role}-${id}@example.com`;
    await db.insert(users).values({ id, email, name: `${role} of ${home.slug}` });
    await db.insert(members).values({ organizationId: home.id, userId: id, roleKey: role });
    if (reach) await db.insert(workspaceMembers).values({ workspaceId: home.workspaceId, userId: id });
    return { id, email, role, home };
  };
  /** A Platform Admin who is a member of no organization; `home` is where the requests are made. */
  const platformAdmin = async (home = acme): Promise<Person> => {
    const id = newId();
    const email = `admin-${id}@example.com`;
    await db.insert(users).values({ id, email, name: "Platform Admin", isPlatformAdmin: true });
    return { id, email, role: "owner", home, isPlatformAdmin: true };
  };
  /** A management key; `expired` is one past its expiry. */
  const key = async (home: Home, { expired = false } = {}) => {
    const { token, digest } = await newToken("management");
    const id = newId();
    const expiresAt = expired ? new Date(h.clock.now() - 1) : null;
    const row = { id, kind: "management" as const, digest, organizationId: home.id, prefix: token.slice(0, 10) };
    await db.insert(accessTokens).values({ ...row, name: "CI", expiresAt });
    return { id, token };
  };
  /** Headers of a personal token. */
  const personalToken = async ({ id }: Person, narrowed: Parameters<typeof issueToken>[2]) =>
    (await issueToken(h, id, narrowed)).headers;
  const session = ({ id }: Person) => createSession(h.services, id, { ip: "192.0.2.1", userAgent: "test" });

  const homes = async (organization: Pick<Home, "id" | "slug"> & { workspaceId: string }) => {
    const first = { ...organization, ...(await agent(organization)) };
    const second = { ...organization, workspaceId: await workspace(organization) };
    return { first, second: { ...second, ...(await agent(second)) } };
  };
  const { first: acme, second: annex } = await homes(h.organization);
  const { first: other } = await homes(await h.createOrganization("other"));

  for (const [key, { allWorkspaces, ...role }] of h.services.options.edition.managed ? Object.entries(ownRoles) : []) {
    const row = { key, name: key, permissions: [...role.permissions], allWorkspaces };
    await db.insert(customRoles).values([acme, other].map(({ id }) => ({ ...row, id: newId(), organizationId: id })));
  }

  return { h, db, acme, annex, other, agent, workspace, person, platformAdmin, key, personalToken, session, settle };
}

/** An unused name. */
export function fresh(noun: string): string {
  return `${noun}-${randomToken(9)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "0")}`;
}
