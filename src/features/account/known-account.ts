import { eq } from "drizzle-orm";
import type { Services } from "../../context/ctx.ts";
import { members, users } from "../../db/schema.ts";
import { oldestFirst } from "./audit.ts";

export interface KnownAccount {
  id: string;
  name: string;
  passwordHash: string | null;
  /** The organization joined first at the head. */
  organizationIds: string[];
}

/** The account of an e-mail with its organizations: one statement, whether the e-mail is known or not. */
export async function findAccount({ database }: Services, email: string): Promise<KnownAccount | null> {
  const rows = await database.db
    .select({
      id: users.id,
      name: users.name,
      passwordHash: users.passwordHash,
      organizationId: members.organizationId,
    })
    .from(users)
    .leftJoin(members, eq(members.userId, users.id))
    .where(eq(users.email, email))
    .orderBy(...oldestFirst);
  const [account] = rows;
  if (!account) return null;
  const { id, name, passwordHash } = account;
  return { id, name, passwordHash, organizationIds: rows.flatMap(({ organizationId }) => organizationId ?? []) };
}
