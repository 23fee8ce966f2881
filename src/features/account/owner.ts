import { and, asc, eq, gt, isNull, sql } from "drizzle-orm";
import type { Services } from "../../context.ts";
import { EngineError } from "../../core/errors.ts";
import { digest, newId, randomToken } from "../../core/ids.ts";
import type { Db } from "../../db/client.ts";
import { installation, members, oneTimeTokens, organizations, users, workspaces } from "../../db/schema.ts";
import { recordEvent } from "./audit.ts";
import type { Account } from "./schema.ts";
import { recordFailedSetup } from "./setup-failures.ts";

const setupTokenMs = 24 * 60 * 60 * 1000;

export interface NewOwner {
  email: string;
  password: string;
  name?: string | undefined;
  /** Slug; `default` when absent. */
  organization?: string | undefined;
}

export interface Owner {
  userId: string;
  organizationId: string;
  organizationSlug: string;
  /** False: an owner was there before, and nothing was changed. */
  created: boolean;
}

/** Whether anybody owns anything yet: the installation is set up. */
export async function ownerExists({ database }: Services): Promise<boolean> {
  return (await firstOwner(database.db)) !== undefined;
}

/**
 * Makes the first owner with organization `default` and workspace `default`. Once an owner exists it changes nothing,
 * the password included, and answers that owner: the environment can't add owners later (decisions §1).
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
    const made = await insertOwner(tx, { ...owner, email }, passwordHash);
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

/** Issues the token of a one-time setup link: 256 bits, good for 24 hours, stored as a digest. */
export async function issueSetupToken({ database, clock }: Services): Promise<string> {
  const token = randomToken();
  const now = clock.now();
  await database.db.insert(oneTimeTokens).values({
    id: newId(),
    kind: "setup",
    digest: await digest(token),
    expiresAt: new Date(now + setupTokenMs),
    createdAt: new Date(now),
  });
  return token;
}

/** Whether the setup link may be used now: `ready`, `invalid` (unknown, used, expired), or `installed` by somebody already. */
export async function readSetupToken(services: Services, token: string): Promise<"ready" | "invalid" | "installed"> {
  if (await ownerExists(services)) return "installed";
  const [row] = await services.database.db
    .select({ id: oneTimeTokens.id })
    .from(oneTimeTokens)
    .where(usable(await digest(token), services));
  return row ? "ready" : "invalid";
}

interface Request {
  id: string;
  ip: string;
}

interface Made {
  user: Account;
  organization: { slug: string };
}

/** Makes the first owner for whoever holds the setup link. Of any number of calls at once exactly one succeeds. */
export async function setUp(services: Services, token: string, owner: NewOwner, request: Request): Promise<Made> {
  try {
    return await makeOwner(services, token, owner, request);
  } catch (error) {
    if (error instanceof EngineError && error.code === "unauthorized") await recordFailedSetup(services, request);
    throw error;
  }
}

/** Throws the 401 of a link that can't be used, the 409 of an installation that is owned. */
async function makeOwner(services: Services, token: string, owner: NewOwner, request: Request): Promise<Made> {
  const state = await readSetupToken(services, token);
  if (state === "installed") throw installed();
  if (state === "invalid") throw invalidLink();
  const passwordHash = await services.passwords.hash(owner.password);
  const tokenDigest = await digest(token);
  return services.database.transaction(async (tx) => {
    await lockInstallation(tx);
    if (await firstOwner(tx)) throw installed();
    const used = { usedAt: new Date(services.clock.now()) };
    const spent = await tx.update(oneTimeTokens).set(used).where(usable(tokenDigest, services)).returning();
    if (spent.length === 0) throw invalidLink();
    const made = await insertOwner(tx, owner, passwordHash);
    const user = { id: made.userId, email: owner.email, name: made.name };
    await recordEvent(tx, {
      action: "installation.setup",
      actor: user,
      target: user.email,
      request,
      organizationIds: [made.organizationId],
    });
    return { user, organization: { slug: made.organizationSlug } };
  });
}

const installed = () =>
  new EngineError("conflict", "This installation already has an owner: sign in, or ask the owner for an account");
const invalidLink = () =>
  new EngineError("unauthorized", "This setup link is not valid any more: restart the server to get a new one");

const usable = (tokenDigest: Uint8Array, { clock }: Services) =>
  and(
    eq(oneTimeTokens.digest, tokenDigest),
    eq(oneTimeTokens.kind, "setup"),
    isNull(oneTimeTokens.usedAt),
    gt(oneTimeTokens.expiresAt, new Date(clock.now())),
  );

/** Replicas that start together, and setups at the same time, go through here one after another. */
async function lockInstallation(tx: Db): Promise<void> {
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

/** The oldest owner, or the one with this e-mail if there is one. */
async function firstOwner(db: Db, email = "") {
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

/** While nobody owns the installation, whoever sets it up decides: a name that is taken is taken over. */
async function insertOwner(
  tx: Db,
  { email, name = email.split("@")[0] ?? email, organization: slug = "default" }: NewOwner,
  passwordHash: string,
) {
  const [user] = await tx
    .insert(users)
    .values({ id: newId(), email, name, passwordHash })
    .onConflictDoUpdate({
      target: users.email,
      set: { passwordHash, passwordSetBy: null, passwordOrganization: null },
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
  if (held.length === 0)
    await tx.insert(workspaces).values({ id: newId(), organizationId: organization.id, name: "default" });
  return { userId: user.id, name: user.name, organizationId: organization.id, organizationSlug: organization.slug };
}
