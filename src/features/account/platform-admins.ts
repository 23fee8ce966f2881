import { and, eq, inArray, isNull, ne, sql } from "drizzle-orm";
import { isAdministered, type Services } from "../../context/ctx.ts";
import { EngineError, notFound } from "../../core/errors.ts";
import type { Db } from "../../db/client.ts";
import { accessTokens, firstOrganization, members, users } from "../../db/schema.ts";
import { governed, isPlatformAdmin } from "../../db/standing.ts";
import { recordEvent } from "./audit.ts";
import { lockInstallation } from "./owner.ts";
import { unknownUser } from "./replace-password.ts";
import { endImpersonations } from "./sessions.ts";

/**
 * Makes the Owners of the first organization Platform Admins when there is none, at a start with the feature
 * `administration`. An Owner whose password somebody else chose stays an Owner.
 */
export async function appointFirstOwners(services: Services): Promise<void> {
  if (!isAdministered(services) || (await isGoverned(services.database.db))) return;
  await services.database.transaction(async (tx) => {
    await lockInstallation(tx);
    if (await isGoverned(tx)) return;
    const owners = tx
      .select({ id: members.userId })
      .from(members)
      .where(and(eq(members.roleKey, "owner"), sql`${members.organizationId} = (${firstOrganization})`));
    const appointed = await tx
      .update(users)
      .set({ isPlatformAdmin: true, updatedAt: sql`now()` })
      .where(and(inArray(users.id, owners), users.active, isNull(users.passwordOrganization)))
      .returning({ email: users.email });
    for (const { email } of appointed) await recordChange(tx, email, true, "boot");
  });
}

async function isGoverned(db: Db): Promise<boolean> {
  const [row] = await db.select({ id: users.id }).from(users).where(governed).limit(1);
  return row !== undefined;
}

/** The result of `changePlatformAdmin`. */
export interface PlatformAdminChange {
  email: string;
  isPlatformAdmin: boolean;
  /** Whether it was different before. */
  changed: boolean;
}

/**
 * Makes a user a Platform Admin, or ends that, for a person on the server's machine. Throws 404 for an unknown e-mail,
 * and 409 in an edition without Platform Admins, where a first one would take `policy:manage` from the Owners.
 */
export async function changePlatformAdmin(
  { database, ...services }: Services,
  given: string,
  value: boolean,
): Promise<PlatformAdminChange> {
  const email = given.trim().toLowerCase();
  if (value && !services.options.edition.has("administration")) {
    throw new EngineError("conflict", "Platform Admins need EDITION=managed with the feature administration");
  }
  return database.transaction(async (tx) => {
    const [user] = await tx.select({ id: users.id }).from(users).where(eq(users.email, email));
    if (!user) throw await unknownUser(tx, email);
    const changed = await setPlatformAdmin(tx, user.id, value);
    if (changed) await recordChange(tx, email, value, "command-line");
    return { email, isPlatformAdmin: value, changed };
  });
}

/**
 * Makes a user a Platform Admin, or ends that, with the user's tokens that work across organizations; returns whether it
 * was different before. Impersonations by and of the user end. Throws the 409 for the last Platform Admin who may sign
 * in, and for an account whose password somebody else chose.
 */
export async function setPlatformAdmin(tx: Db, userId: string, value: boolean): Promise<boolean> {
  await lockInstallation(tx);
  const one = eq(users.id, userId);
  const { isPlatformAdmin: current, passwordOrganization } = users;
  // Locked, so that nobody else chooses the password meanwhile.
  const [user] = await tx.select({ current, passwordOrganization }).from(users).where(one).for("update");
  if (!user) throw notFound("User");
  if (user.current === value) return false;
  if (value && user.passwordOrganization !== null) {
    throw new EngineError(
      "conflict",
      "Somebody else chose the password of the account: its holder must first choose another one",
    );
  }
  if (!value) await requireOtherPlatformAdmin(tx, userId);
  await tx.update(users).set({ isPlatformAdmin: value, updatedAt: sql`now()` }).where(one);
  // These tokens would work again if the flag were changed back.
  await endImpersonations(tx, userId);
  if (!value) {
    await tx.delete(accessTokens).where(and(eq(accessTokens.userId, userId), eq(accessTokens.scope, "installation")));
  }
  return true;
}

/** Throws the 409 when no other Platform Admin may sign in. The caller has locked the installation. */
export async function requireOtherPlatformAdmin(tx: Db, userId: string): Promise<void> {
  const others = and(ne(users.id, userId), isPlatformAdmin(users));
  const [other] = await tx.select({ id: users.id }).from(users).where(others).limit(1);
  if (!other) throw new EngineError("conflict", "The last Platform Admin stays: make another user one first");
}

/** Writes the entry into the installation's log. */
function recordChange(tx: Db, email: string, value: boolean, requestId: string): Promise<void> {
  return recordEvent(tx, {
    action: value ? "platform-admin.grant" : "platform-admin.revoke",
    actor: null,
    target: email,
    request: { id: requestId, ip: "" },
    organizationIds: [],
  });
}
