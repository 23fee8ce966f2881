import { asc, eq, sql } from "drizzle-orm";
import { isAdministered, type Services } from "../../context/ctx.ts";
import { newId } from "../../core/ids.ts";
import type { Db } from "../../db/client.ts";
import { installation, members, organizations, users, workspaces } from "../../db/schema.ts";
import { recordEvent } from "./audit.ts";
import { nameOf } from "./user.ts";

export interface NewOwner {
  email: string;
  password: string;
  name?: string | undefined;
  /** The organization's slug; `default` when absent. */
  organization?: string | undefined;
}

interface Owner {
  userId: string;
  organizationId: string;
  organizationSlug: string;
  /** False when there already was an owner; then nothing was changed. */
  created: boolean;
}

/** Whether the installation is set up: an organization has an Owner. */
export async function ownerExists({ database }: Services): Promise<boolean> {
  return (await firstOwner(database.db)) !== undefined;
}

/**
 * Creates the first owner with organization `default` and workspace `default`. Once an owner exists it changes nothing,
 * not even the password, and returns that owner: the environment can't add owners later (decisions §1).
 */
export async function bootstrapOwner(services: Services, owner: NewOwner): Promise<Owner> {
  const email = owner.email.trim().toLowerCase();
  const existing = await firstOwner(services.database.db, email);
  if (existing) {
    if (existing.email !== email) services.log.warn({}, "An owner exists already: the given one was not made");
    return found(existing);
  }
  const passwordHash = await services.passwords.hash(owner.password);
  return services.database.transaction(async (tx) => {
    await lockInstallation(tx);
    const earlier = await firstOwner(tx, email);
    if (earlier) return found(earlier);
    const made = await insertOwner(tx, services, { ...owner, email }, passwordHash);
    await recordEvent(tx, {
      action: "installation.setup",
      actor: null,
      target: email,
      request: { id: "boot", ip: "" },
      organizationIds: [made.organizationId],
    });
    return { ...found(made), created: true };
  });
}

/** Locks the row of `installation`, so that starting replicas and simultaneous setups run one after another. */
export async function lockInstallation(tx: Db): Promise<void> {
  await tx
    .insert(installation)
    .values({ id: 1 })
    .onConflictDoUpdate({ target: installation.id, set: { id: 1 } });
}

const found = ({ userId, organizationId, organizationSlug }: Omit<Owner, "created">): Owner => ({
  userId,
  organizationId,
  organizationSlug,
  created: false,
});

/** The owner with this e-mail, else the oldest owner. */
export async function firstOwner(db: Db, email = "") {
  const [owner] = await db
    .select({
      userId: users.id,
      email: users.email,
      organizationId: organizations.id,
      organizationSlug: organizations.slug,
    })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .innerJoin(organizations, eq(organizations.id, members.organizationId))
    .where(eq(members.roleKey, "owner"))
    .orderBy(sql`${users.email} = ${email} desc`, asc(members.createdAt), asc(organizations.id))
    .limit(1);
  return owner;
}

/**
 * Inserts the owner, with the feature `administration` as a Platform Admin. Takes over an existing account or
 * organization of the same name: until there is an owner, the setup decides.
 */
export async function insertOwner(
  tx: Db,
  services: Services,
  { email, name = nameOf(email), organization: slug = "default" }: NewOwner,
  passwordHash: string,
) {
  const account = { passwordHash, ...(isAdministered(services) ? { isPlatformAdmin: true } : {}) };
  const [user] = await tx
    .insert(users)
    .values({ id: newId(), email, name, ...account })
    .onConflictDoUpdate({
      target: users.email,
      set: { ...account, passwordSetBy: null, passwordOrganization: null },
    })
    .returning();
  const [organization] = await tx
    .insert(organizations)
    .values({ id: newId(), slug, name: slug })
    .onConflictDoUpdate({ target: organizations.slug, set: { slug } })
    .returning();
  if (!user || !organization) throw new Error("An upsert returned no row");
  await tx
    .insert(members)
    .values({ organizationId: organization.id, userId: user.id, roleKey: "owner" })
    .onConflictDoUpdate({ target: [members.organizationId, members.userId], set: { roleKey: "owner" } });
  const held = await tx
    .select({ id: workspaces.id })
    .from(workspaces)
    .where(eq(workspaces.organizationId, organization.id))
    .limit(1);
  if (held.length === 0) {
    await tx.insert(workspaces).values({ id: newId(), organizationId: organization.id, name: "default" });
  }
  return { userId: user.id, name: user.name, organizationId: organization.id, organizationSlug: organization.slug };
}
