import { and, asc, eq, sql } from "drizzle-orm";
import type { Ctx } from "../../context/ctx.ts";
import { changesBetween } from "../../core/changes.ts";
import { permissionsOf } from "../../core/credentials/permissions.ts";
import { notFound } from "../../core/errors.ts";
import { sortByName } from "../../core/text/names.ts";
import { firstOrganization, members, organizations, reachable, users } from "../../db/schema.ts";
import { countCall, type Limit, requireAllowed } from "../../http/callers/throttle.ts";
import { organizationsOf, recordEvent } from "./audit.ts";
import type { Me, MeChanges } from "./schema.ts";
import { userOf } from "./user.ts";

/** The signed-in person of the call, with the organizations within reach. */
export async function readMe({ db, actor }: Ctx): Promise<Me> {
  if (actor.type !== "user") throw notFound("User");
  const rows = await db
    .select({
      id: users.id,
      email: users.email,
      name: users.name,
      onboarding: users.onboarding,
      passwordSetBy: users.passwordSetBy,
      organization: { slug: organizations.slug, name: organizations.name },
      isFirst: sql<boolean>`${organizations.id} = (${firstOrganization})`,
      roleKey: members.roleKey,
    })
    .from(users)
    .leftJoin(members, and(eq(members.userId, users.id), reachable))
    .leftJoin(organizations, eq(organizations.id, members.organizationId))
    .where(eq(users.id, actor.id))
    .orderBy(asc(organizations.slug));
  const [first] = rows;
  if (!first) throw notFound("User");
  const { id, email, name, onboarding, passwordSetBy } = first;
  const memberships = rows.flatMap(({ organization, roleKey, isFirst }) =>
    organization && roleKey ? [{ ...organization, roleKey, permissions: permissionsOf(roleKey, isFirst) }] : [],
  );
  const required = passwordSetBy === null ? {} : { passwordChangeRequired: true as const };
  return { user: { id, email, name, onboarding, organizations: sortByName(memberships), ...required } };
}

/** Changes of one user's name: each is an entry in the log of every organization of the user. */
const renames: Limit = { calls: 10, windowMs: 60 * 60 * 1000 };

/**
 * Changes the name that others see. Their organizations' logs say from what to what. Throws the 429 after too many
 * changes.
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
