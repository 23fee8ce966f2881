import { newId } from "../../../src/core/ids.ts";
import { passwords } from "../../../src/core/password.ts";
import type { RoleKey } from "../../../src/core/permissions.ts";
import { members, users } from "../../../src/db/schema.ts";
import type { Harness } from "../../harness.ts";

export const password = "correct horse battery";

/** A user of the harness's organization who can sign in with `password`. */
export async function createUser({ services, organization }: Harness, email: string, roleKey: RoleKey = "owner") {
  const id = newId();
  const { db } = services.database;
  await db.insert(users).values({ id, email, name: "Ada", passwordHash: await passwords.hash(password) });
  await db.insert(members).values({ organizationId: organization.id, userId: id, roleKey });
  return { id, email };
}

/** `POST /api/auth/sign-in/email`. */
export function signIn(h: Harness, json: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return h.request("/api/auth/sign-in/email", { method: "POST", json, headers });
}

/** The `name=value` that a browser would send back. */
export function cookieOf(response: Response): string {
  return (response.headers.get("Set-Cookie") ?? "").split(";")[0] ?? "";
}
