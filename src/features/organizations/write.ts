import { eq } from "drizzle-orm";
import { type Ctx, write } from "../../context.ts";
import { notFound } from "../../core/errors.ts";
import type { Db } from "../../db/client.ts";
import { organizations } from "../../db/schema.ts";

interface OrganizationChange {
  action: string;
  target: string;
  /** Added to the audit entry; never a password. */
  summary?: Record<string, unknown>;
}

/**
 * Changes who or what belongs to the addressed organization: `write` with the organization locked, so that such changes
 * happen one after the other and may rely on what they read. Throws the 404 of an organization that is gone.
 */
export function writeOrganization<T>(ctx: Ctx, change: OrganizationChange, fn: (tx: Db) => Promise<T>): Promise<T> {
  return write(ctx, change, async (tx) => {
    const [organization] = await tx
      .select({ id: organizations.id })
      .from(organizations)
      .where(eq(organizations.id, ctx.membership.organizationId))
      // Not the stronger lock: that one would make everything wait whose foreign key points here, turns too.
      .for("no key update");
    if (!organization) throw notFound("Organization");
    return fn(tx);
  });
}
