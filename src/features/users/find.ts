import { and, asc, eq, inArray, isNull, or, type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../context/ctx.ts";
import { notFound } from "../../core/errors.ts";
import type { Db } from "../../db/client.ts";
import { hasId } from "../../db/fragments.ts";
import { members, organizations, users } from "../../db/schema.ts";
import { countTotal } from "../../http/paging.ts";
import type { User, UserQuery, Users } from "./schema.ts";

/** The columns of an account that only Platform Admins read and change. */
export const accountColumns = {
  id: users.id,
  email: users.email,
  name: users.name,
  isPlatformAdmin: users.isPlatformAdmin,
  active: users.active,
};

/** A page of all users of the installation, by e-mail. */
export async function listUsers({ db }: Ctx, { search, limit = 50, offset = 0 }: UserQuery): Promise<Users> {
  const wanted = search ? contains(search) : undefined;
  const rows = await db
    .select(accountColumns)
    .from(users)
    .where(wanted)
    .orderBy(asc(users.email))
    .limit(limit)
    .offset(offset);
  const total = await countTotal(
    db,
    rows.length,
    { limit, offset },
    db.select({ id: users.id }).from(users).where(wanted),
  );
  return { users: await withOrganizations(db, rows), total, limit, offset };
}

/** A user of the installation. Throws the 404. */
export async function findUser(db: Db, id: string): Promise<User> {
  const rows = await db.select(accountColumns).from(users).where(hasId(users.id, id));
  const [user] = await withOrganizations(db, rows);
  if (!user) throw notFound("User");
  return user;
}

/** `strpos` instead of a pattern, so that `%` and `_` match only themselves. */
function contains(text: string): SQL | undefined {
  return or(...[users.email, users.name].map((column) => sql`strpos(lower(${column}), lower(${text})) > 0`));
}

async function withOrganizations(db: Db, accounts: Omit<User, "organizations">[]): Promise<User[]> {
  const ids = accounts.map(({ id }) => id);
  const memberships = await db
    .select({
      userId: members.userId,
      organization: { slug: organizations.slug, name: organizations.name, roleKey: members.roleKey },
    })
    .from(members)
    .innerJoin(organizations, eq(organizations.id, members.organizationId))
    .where(and(inArray(members.userId, ids), isNull(organizations.deletedAt)))
    .orderBy(asc(organizations.slug));
  return accounts.map((account) => ({
    ...account,
    organizations: memberships.flatMap(({ userId, organization }) => (userId === account.id ? [organization] : [])),
  }));
}
