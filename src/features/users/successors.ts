import { and, asc, eq, inArray, isNull, notExists } from "drizzle-orm";
import { EngineError } from "../../core/errors.ts";
import type { Db } from "../../db/client.ts";
import { members, organizations } from "../../db/schema.ts";
import { requireOtherPlatformAdmin } from "../account/index.ts";
import { otherOwners } from "../organizations/index.ts";

/**
 * Throws the 409 for the last Platform Admin and for the last Owner of an organization: an account that may not sign in
 * leaves neither without somebody. The caller has locked the account, which so joins no organization meanwhile.
 */
export async function requireSuccessors(
  tx: Db,
  { id, isPlatformAdmin }: { id: string; isPlatformAdmin: boolean },
): Promise<void> {
  if (isPlatformAdmin) await requireOtherPlatformAdmin(tx, id);
  const own = tx.select({ id: members.organizationId }).from(members).where(eq(members.userId, id));
  // The lock of changes of roles (`writeOrganization`). In one order, so that two such calls don't deadlock.
  await tx
    .select({ id: organizations.id })
    .from(organizations)
    .where(inArray(organizations.id, own))
    .orderBy(asc(organizations.id))
    .for("no key update");
  const [left] = await tx
    .select({ slug: organizations.slug })
    .from(members)
    .innerJoin(organizations, eq(organizations.id, members.organizationId))
    .where(
      and(
        eq(members.userId, id),
        eq(members.roleKey, "owner"),
        isNull(organizations.deletedAt),
        notExists(otherOwners(tx, members.organizationId, id)),
      ),
    )
    .orderBy(asc(organizations.slug))
    .limit(1);
  if (left) {
    throw new EngineError("conflict", `The last Owner of ${left.slug} stays: make another member an Owner first`);
  }
}
