import { and, asc, eq, isNull, sql } from "drizzle-orm";
import type { Ctx } from "../../context/ctx.ts";
import { installationLog, write } from "../../context/write.ts";
import { type Changes, changesBetween } from "../../core/changes.ts";
import { EngineError, notFound } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { sortByName } from "../../core/text/names.ts";
import { type Db, sqlState } from "../../db/client.ts";
import {
  afterAllOrganizations,
  afterMembershipsOf,
  members,
  organizations,
  users,
  workspaces,
} from "../../db/schema.ts";
import { reachable } from "../../db/standing.ts";
import { userOf } from "../account/index.ts";
import type { NewOrganization, Organization, OrganizationChanges } from "./schema.ts";
import { writeOrganization } from "./write.ts";

type Row = typeof organizations.$inferSelect;

/**
 * The organizations that the caller reaches, by name: a management key and a token for one organization only that one, a Platform Admin all of them, with a null
 * role where the admin is no member.
 */
export async function listOrganizations(ctx: Ctx): Promise<Organization[]> {
  const { db, actor, membership } = ctx;
  if (actor.type !== "user" || actor.token?.scope === "organization") return [await getOrganization(ctx)];
  const own = db
    .select({ organizationId: members.organizationId, roleKey: members.roleKey })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(and(eq(members.userId, actor.id), reachable))
    .as("own");
  const ofOwn = eq(own.organizationId, organizations.id);
  const selected = db.select({ organization: organizations, roleKey: own.roleKey }).from(organizations);
  const joined = membership.everywhere ? selected.leftJoin(own, ofOwn) : selected.innerJoin(own, ofOwn);
  const rows = await joined.where(isNull(organizations.deletedAt)).orderBy(asc(organizations.slug));
  return sortByName(rows.map(({ organization, roleKey }) => toOrganization(organization, roleKey)));
}

/** The request's organization. Throws the 404 for a deleted one. */
export async function getOrganization({ db, membership }: Ctx): Promise<Organization> {
  const [row] = await db.select().from(organizations).where(eq(organizations.id, membership.organizationId));
  if (!row) throw notFound("Organization");
  return toOrganization(row, membership.role);
}

/**
 * Creates an organization with the workspace `default`, owned by `ownerEmail` or else by the caller. Throws 400 for an
 * owner without an account, 409 for an owner whose password somebody else knows, and for a taken slug.
 */
export async function createOrganization(
  ctx: Ctx,
  { slug, name = slug, ownerEmail }: NewOrganization,
): Promise<Organization> {
  const organizationId = newId();
  const summary = { organizationId, ownerId: "" };
  const change = { action: "organization.create", target: slug, summary, logs: () => installationLog(ctx) };
  const row = await unlessTaken(slug, () =>
    write(ctx, change, async (tx) => {
      summary.ownerId = await lockOwner(tx, ctx, ownerEmail);
      const [made] = await tx
        .insert(organizations)
        .values({ id: organizationId, slug, name, createdAt: afterAllOrganizations })
        .returning();
      if (!made) throw new Error("An insert returned no row");
      await tx.insert(workspaces).values({ id: newId(), organizationId, name: "default" });
      const { ownerId: userId } = summary;
      await tx
        .insert(members)
        .values({ organizationId, userId, roleKey: "owner", createdAt: afterMembershipsOf(userId) });
      return made;
    }),
  );
  return toOrganization(row, summary.ownerId === ctx.actor.id ? "owner" : null);
}

/** Changes an organization; writes nothing if neither field is given. Throws 409 for a taken slug. */
export async function updateOrganization(ctx: Ctx, { name, slug }: OrganizationChanges): Promise<Organization> {
  if (name === undefined && slug === undefined) return getOrganization(ctx);
  const { membership } = ctx;
  const changes: Changes = {};
  const change = { action: "organization.update", target: membership.organizationSlug, changes };
  const row = await unlessTaken(slug ?? "", () =>
    writeOrganization(ctx, change, async (tx) => {
      const own = eq(organizations.id, membership.organizationId);
      const [before] = await tx.select().from(organizations).where(own);
      const [updated] = await tx
        .update(organizations)
        .set({ name, slug, revision: sql`${organizations.revision} + 1`, updatedAt: sql`now()` })
        .where(own)
        .returning();
      if (!before || !updated) throw notFound("Organization");
      Object.assign(changes, changesBetween(before, { name: updated.name, slug: updated.slug }));
      return updated;
    }),
  );
  return toOrganization(row, membership.role);
}

/** The id of the account. Locked, so that its password is not renewed meanwhile. */
async function lockOwner(tx: Db, ctx: Ctx, email: string | undefined): Promise<string> {
  const { id, active, passwordOrganization } = users;
  const [user] = await tx
    .select({ id, active, passwordOrganization })
    .from(users)
    .where(email === undefined ? eq(id, userOf(ctx).id) : eq(users.email, email))
    .for("share");
  if (!user) {
    throw new EngineError(
      "bad-request",
      "ownerEmail: nobody has an account with this e-mail; add them as a member first",
    );
  }
  if (!user.active) throw new EngineError("conflict", "The Owner's account is not active: make it active first");
  if (user.passwordOrganization === null) return user.id;
  throw new EngineError(
    "conflict",
    "Somebody else chose the password of the Owner's account: its holder must first choose another one",
  );
}

async function unlessTaken<T>(slug: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (sqlState(error) !== "23505") throw error;
    throw new EngineError("conflict", `The slug ${slug} is taken`);
  }
}

function toOrganization({ id, slug, name, createdAt, updatedAt }: Row, roleKey: string | null): Organization {
  return { id, slug, name, roleKey, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
}
