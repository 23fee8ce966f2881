import { and, eq, isNull } from "drizzle-orm";
import type { Ctx } from "../../context/ctx.ts";
import { write } from "../../context/write.ts";
import type { Changes } from "../../core/changes.ts";
import { notFound } from "../../core/errors.ts";
import type { Db } from "../../db/client.ts";
import { organizations } from "../../db/schema.ts";

interface OrganizationChange {
  action: string;
  target: string;
  /** Added to the audit entry; never contains a password. */
  summary?: Record<string, unknown>;
  /** The fields that an update changed (`write`). */
  changes?: Changes;
  /** Whether nothing was changed (`write`). */
  unchanged?: () => boolean;
}

/**
 * Changes an organization's own data: `write` with the organization's row locked. Such changes run one after the other,
 * each by a caller who still has the permission, and `fn` may rely on what it reads. Throws the 404 for a deleted
 * organization.
 */
export function writeOrganization<T>(ctx: Ctx, change: OrganizationChange, fn: (tx: Db) => Promise<T>): Promise<T> {
  const lock = (tx: Db) => lockOrganization(tx, ctx.membership.organizationId);
  return write(ctx, { ...change, lock }, fn);
}

/** Locks the organization's row until the transaction ends. Throws the 404 for a deleted organization. */
export async function lockOrganization(tx: Db, id: string): Promise<void> {
  const [organization] = await tx
    .select({ id: organizations.id })
    .from(organizations)
    .where(and(eq(organizations.id, id), isNull(organizations.deletedAt)))
    // `for update` would block every insert with a foreign key to this row, including those of turns.
    .for("no key update");
  if (!organization) throw notFound("Organization");
}
