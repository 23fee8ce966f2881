import type { Permission, RoleKey } from "../../../src/core/credentials/permissions.ts";
import { newToken } from "../../../src/core/credentials/tokens.ts";
import { newId } from "../../../src/core/ids.ts";
import { accessTokens, members, users } from "../../../src/db/schema.ts";
import { createSession } from "../../../src/features/account/index.ts";
import type { Harness } from "../../harness.ts";
import { passwords } from "../../passwords.ts";

export const password = "correct horse battery";

let hashed: Promise<string> | undefined;
/** The hash of `password`, made once because it takes tens of milliseconds. */
function passwordHash(): Promise<string> {
  hashed ??= passwords.hash(password);
  return hashed;
}

/** A user of the harness's organization who can sign in with `password`. */
export async function createUser({ services, organization }: Harness, email: string, roleKey: RoleKey = "owner") {
  const id = newId();
  const { db } = services.database;
  await db.insert(users).values({ id, email, name: "Ada", passwordHash: await passwordHash() });
  await db.insert(members).values({ organizationId: organization.id, userId: id, roleKey });
  return { id, email };
}

/** Makes the user a member of one more organization. */
export async function join(h: Harness, userId: string, slug: string, roleKey: RoleKey = "member") {
  const organization = await h.createOrganization(slug);
  await h.services.database.db.insert(members).values({ organizationId: organization.id, userId, roleKey });
  return organization;
}

/** Headers of one more session of the user, without the work of a sign-in. */
export async function openSession(h: Harness, userId: string, userAgent = "test") {
  const token = await createSession(h.services, userId, { ip: "192.0.2.1", userAgent });
  return { Authorization: `Bearer ${token}` };
}

interface Narrowed {
  kind?: "personal" | "impersonation";
  /** Of the scope `organization`; absent for a token that works across organizations. */
  organizationId?: string;
  permissions?: Permission[];
  createdBy?: string;
}

/** Stores a token of the user, and returns its headers. */
export async function issueToken(
  { services }: Harness,
  userId: string,
  { kind = "personal", organizationId, ...row }: Narrowed = {},
) {
  const { token, digest } = await newToken(kind);
  const scope =
    kind === "impersonation" ? null : organizationId ? ("organization" as const) : ("installation" as const);
  const expiresAt = new Date(services.clock.now() + 60 * 60 * 1000);
  const id = newId();
  const reach = { scope, organizationId: organizationId ?? null };
  await services.database.db
    .insert(accessTokens)
    .values({ ...row, id, kind, digest, userId, ...reach, name: "CI", prefix: token.slice(0, 10), expiresAt });
  return { id, token, headers: { Authorization: `Bearer ${token}` } };
}

/** The status of a call with a session's headers: 200, or 401 when the session has ended. */
export async function statusOf(h: Harness, headers: Record<string, string>): Promise<number> {
  return (await h.request("/api/me", { headers })).status;
}

/** `POST /api/auth/sign-in/email`. */
export function signIn(h: Harness, json: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return h.request("/api/auth/sign-in/email", { method: "POST", json, headers });
}

/** The `name=value` that a browser would send back. */
export function cookieOf(response: Response): string {
  return (response.headers.get("Set-Cookie") ?? "").split(";")[0] ?? "";
}
