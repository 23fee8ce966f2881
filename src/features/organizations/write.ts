import { eq } from "drizzle-orm";
import type { Ctx } from "../../context/ctx.ts";
import { write } from "../../context/write.ts";
import type { Changes } from "../../core/changes.ts";
import { notFound } from "../../core/errors.ts";
import type { Db } from "../../db/client.ts";
import { organizations } from "../../db/schema.ts";

interface OrganizationChange {
  action: string;
  target: string;
  /** Added to the audit entry; never a password. */
  summary?: Record<string, unknown>;
  /** The fields that an update changed (`write`). */
  changes?: Changes;
  /** Whether it changed nothing (`write`). */
  unchanged?: () => boolean;
}

/**
 * Changes what belongs to the addressed organization as a whole: `write` with the organization's row locked, so that
 * such changes happen one after the other, each by a caller who still may, and `fn` may rely on what it reads. Throws
 * the 404 of a deleted organization.
 */
export function writeOrganization<T>(ctx: Ctx, change: OrganizationChange, fn: (tx: Db) => Promise<T>): Promise<T> {
  const lock = (tx: Db) => lockOrganization(tx, ctx.membership.organizationId);
  return write(ctx, { ...change, lock }, fn);
}

/** Locks the organization's row until the transaction ends. Throws the 404 of a deleted organization. */
export async function lockOrganization(tx: Db, id: string): Promise<void> {
  const [organization] = await tx
    .select({ id: organizations.id })
    .from(organizations)
    .where(eq(organizations.id, id))
    // A plain `for update` would make every insert wait whose foreign key points here, those of turns included.
    .for("no key update");
  if (!organization) throw notFound("Organization");
}
