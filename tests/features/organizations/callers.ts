import { asc, eq } from "drizzle-orm";
import { newToken } from "../../../src/core/credentials/tokens.ts";
import { accessTokens, auditLogs, members, workspaceMembers } from "../../../src/db/schema.ts";
import type { Harness } from "../../harness.ts";

export type Headers = Record<string, string>;

/** An id that no row has. */
export const nobody = "01936b2e-8f00-7a31-9c54-2f1d0a6b7c8d";

/** Texts that are no id, for path parameters that take one. */
export const oddIds = ["1", "%00", "..%2f..", "' or 1=1", `${nobody}x`, `{${nobody}}`];

/** The id of the user whose session the headers carry. */
export async function userIdOf(h: Harness, headers: Headers): Promise<string> {
  const { user } = await (await h.request("/api/me", { headers })).json();
  return user.id;
}

/** Headers of a management key of the organization. */
export async function managementKey(h: Harness, organization = h.organization): Promise<Headers> {
  const { token, digest } = await newToken("management");
  const row = { kind: "management" as const, digest, organizationId: organization.id, name: "CI" };
  await h.services.database.db.insert(accessTokens).values({ ...row, prefix: token.slice(0, 10) });
  return { Authorization: `Bearer ${token}` };
}

export async function join(h: Harness, organizationId: string, userId: string, roleKey: string): Promise<void> {
  await h.services.database.db.insert(members).values({ organizationId, userId, roleKey });
}

/** The role of each member of an organization. */
export async function rolesIn(h: Harness, organizationId: string): Promise<Record<string, string>> {
  const rows = await h.services.database.db.select().from(members).where(eq(members.organizationId, organizationId));
  return Object.fromEntries(rows.map(({ userId, roleKey }) => [userId, roleKey]));
}

/** The workspaces that a user has entries in. */
export async function entriesOf(h: Harness, userId: string): Promise<string[]> {
  const rows = await h.services.database.db.select().from(workspaceMembers).where(eq(workspaceMembers.userId, userId));
  return rows.map(({ workspaceId }) => workspaceId);
}

/** The audit entries, oldest first. */
export async function auditOf(h: Harness) {
  return h.services.database.db.select().from(auditLogs).orderBy(asc(auditLogs.createdAt), asc(auditLogs.id));
}

/** Status and message of an answer. */
export async function refusal(answer: Response | Promise<Response>): Promise<[number, string]> {
  const response = await answer;
  const { message } = await response.json();
  return [response.status, message];
}
