import { and, asc, eq, sql } from "drizzle-orm";
import { type Ctx, isAdministered } from "../../context/ctx.ts";
import { changesBetween } from "../../core/changes.ts";
import { rightsOf } from "../../core/credentials/rights.ts";
import { EngineError, notFound } from "../../core/errors.ts";
import { type Limit, requireAllowed } from "../../core/limits/throttle.ts";
import { sortByName } from "../../core/text/names.ts";
import { orNull } from "../../db/fragments.ts";
import { accessTokens, firstOrganization, members, organizations, users } from "../../db/schema.ts";
import { customRoleOf, governed, isPlatformAdmin, reachable, reached, reachedOrganization } from "../../db/standing.ts";
import { countCall } from "../../db/throttle.ts";
import { organizationsOf, recordEvent } from "./audit.ts";
import type { ChosenOrganization, Me, MeChanges, OnboardingChange } from "./schema.ts";
import { userOf } from "./user.ts";

/** The signed-in person of the request, with the reachable organizations. */
export async function readMe({ db, actor, membership, options: { edition } }: Ctx): Promise<Me> {
  if (actor.type !== "user") throw notFound("User");
  const rows = await db
    .select({
      id: users.id,
      email: users.email,
      name: users.name,
      onboarding: users.onboarding,
      passwordSetBy: users.passwordSetBy,
      isPlatformAdmin: isPlatformAdmin(users),
      governed,
      organization: { slug: organizations.slug, name: organizations.name },
      first: sql<boolean>`${organizations.id} = (${firstOrganization})`,
      roleKey: members.roleKey,
      customRole: customRoleOf(members.organizationId, members.roleKey),
    })
    .from(users)
    .leftJoin(members, and(eq(members.userId, users.id), reachable))
    .leftJoin(organizations, eq(organizations.id, members.organizationId))
    .where(eq(users.id, actor.id))
    .orderBy(asc(organizations.slug));
  const [user] = rows;
  if (!user) throw notFound("User");
  const { id, email, name, onboarding, passwordSetBy } = user;
  const memberships = rows.flatMap(({ organization, roleKey, first, ...standing }) => {
    if (!organization || !roleKey) return [];
    const { permissions } = rightsOf(
      { role: roleKey, workspaceIds: null, narrowedTo: null, ...standing },
      { first, edition },
    );
    return [{ ...organization, roleKey, permissions: [...permissions] }];
  });
  const required = passwordSetBy === null ? {} : { passwordChangeRequired: true as const };
  return {
    edition: edition.name,
    features: [...edition.features],
    isPlatformAdmin: membership.everywhere,
    impersonatedBy: actor.impersonator ?? null,
    user: { id, email, name, onboarding, organizations: sortByName(memberships), ...required },
  };
}

/** The most name changes of a user: each writes an entry into the logs of all of the user's organizations. */
const renames: Limit = { calls: 10, windowMs: 60 * 60 * 1000 };

/**
 * Changes the name that other people see. The logs of the user's organizations contain both names. Throws the 429 after
 * too many changes.
 */
export async function changeMe(ctx: Ctx, { name }: MeChanges): Promise<void> {
  if (name === undefined) return;
  const actor = userOf(ctx);
  requireAllowed(await countCall(ctx, `rename:${actor.id}`, renames), "changes of your name");
  const ownRow = eq(users.id, actor.id);
  await ctx.database.transaction(async (tx) => {
    const [user] = await tx.select({ name: users.name }).from(users).where(ownRow).for("no key update");
    if (!user) throw notFound("User");
    const changes = changesBetween(user, { name });
    if (Object.keys(changes).length === 0) return;
    await tx.update(users).set({ name, updatedAt: sql`now()` }).where(ownRow);
    await recordEvent(tx, {
      action: "user.update",
      actor,
      target: actor.email,
      request: ctx.request,
      organizationIds: await organizationsOf(tx, actor.id),
      summary: { changes },
    });
  });
}

/**
 * Makes an organization the default of the session's requests. Throws the 404 for an organization that the user does
 * not belong to, or can't reach before choosing a password. A Platform Admin chooses any organization.
 */
export async function chooseOrganization(ctx: Ctx, slug: string): Promise<ChosenOrganization["organization"]> {
  const own = eq(accessTokens.id, userOf(ctx).tokenId);
  const which = eq(organizations.slug, slug);
  const beyond = isAdministered(ctx) ? which : sql`false`;
  const [found] = await ctx.db
    .select({
      id: sql<string>`${reached.organization.id}`,
      slug: sql<string>`${reached.organization.slug}`,
      name: sql<string>`${reached.organization.name}`,
      roleKey: orNull(reached.member.roleKey),
    })
    .from(accessTokens)
    .innerJoin(users, eq(users.id, accessTokens.userId))
    .innerJoinLateral(reachedOrganization({ user: users, token: accessTokens }, { which, beyond }), sql`true`)
    .where(own);
  if (!found) throw notFound("Organization");
  await ctx.db.update(accessTokens).set({ activeOrganizationId: found.id }).where(own);
  return { slug: found.slug, name: found.name, roleKey: found.roleKey };
}

/** The most bytes of `onboarding` as JSON in UTF-8 (decisions §2). */
const maxBytes = 8192;

/**
 * Merges a change into the user's `onboarding`; null removes a key. Changes at the same time are merged too. Throws the
 * 413 when the result is too large.
 */
export async function changeOnboarding(ctx: Ctx, change: OnboardingChange): Promise<void> {
  const ownRow = eq(users.id, userOf(ctx).id);
  await ctx.database.transaction(async (tx) => {
    const [user] = await tx.select({ stored: users.onboarding }).from(users).where(ownRow).for("no key update");
    if (!user) throw notFound("User");
    const onboarding = mergeOnboarding(user.stored, change);
    await tx.update(users).set({ onboarding, updatedAt: sql`now()` }).where(ownRow);
  });
}

/**
 * Merges a change into `stored`, without the keys that it sets to null. Throws the 413 when the result is too large.
 */
export function mergeOnboarding(stored: Record<string, unknown>, change: OnboardingChange): Record<string, unknown> {
  const entries = Object.entries({ ...stored, ...change }).filter(([, value]) => value !== null);
  const merged = Object.fromEntries(entries);
  if (new TextEncoder().encode(JSON.stringify(merged)).length > maxBytes) {
    throw new EngineError("too-large", `onboarding: must be at most ${maxBytes} bytes of JSON, with what is stored`);
  }
  return merged;
}
