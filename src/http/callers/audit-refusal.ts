import { audit } from "../../context/audit.ts";
import type { Ctx } from "../../context/ctx.ts";
import type { EngineError } from "../../core/errors.ts";
import type { Limit } from "../../core/limits/throttle.ts";
import { clip, storable } from "../../core/text/text.ts";
import { countCall } from "../../db/throttle.ts";

/** The most refusals of one caller that are logged in one organization, so that no caller can flood the audit log. */
const noted: Limit = { calls: 20, windowMs: 10 * 60 * 1000 };

/** The most characters of a path in the log. */
const longestPath = 256;

/**
 * Writes the 403 of a known caller into the audit log of the request's organization. The last entry within ten minutes
 * says that further ones are left out.
 */
export async function recordRefusal(ctx: Ctx, { message }: EngineError, method: string, path: string): Promise<void> {
  const { actor, membership, request, database } = ctx;
  // Counts separately in each organization, so that refusals in one don't hide those in another.
  const { allowed, remaining } = await countCall(ctx, `refusals:${membership.organizationId}:${actor.id}`, noted);
  if (!allowed) return;
  await audit(database.db, {
    action: "access.refuse",
    target: `${method} ${clip(storable(path), longestPath)}`,
    actor,
    request,
    // The id of a caller without any organization belongs to no row.
    organizationId: membership.organizationSlug === "" ? null : membership.organizationId,
    success: false,
    summary: { message, ...(remaining === 0 ? { furtherRefusals: "not recorded within ten minutes" } : {}) },
  });
}
