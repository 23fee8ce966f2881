import { and, eq, ne, type SQLWrapper } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Db } from "../../../db/client.ts";
import { members, users } from "../../../db/schema.ts";

const other = alias(members, "other");

/** The Owners of an organization beside a user, of those who may sign in: without one the user has to stay. */
export const otherOwners = (db: Db, organizationId: SQLWrapper | string, userId: string) =>
  db
    .select({ userId: other.userId })
    .from(other)
    .innerJoin(users, eq(users.id, other.userId))
    .where(
      and(
        eq(other.organizationId, organizationId),
        eq(other.roleKey, "owner"),
        eq(users.active, true),
        ne(other.userId, userId),
      ),
    );
