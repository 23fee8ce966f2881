import { audit } from "../../context/audit.ts";
import type { Ctx } from "../../context/ctx.ts";
import type { Membership } from "../../context/membership.ts";
import type { EngineError } from "../../core/errors.ts";
import type { Limit } from "../../core/limits/throttle.ts";
import { clip, storable } from "../../core/text/text.ts";
import { countCall } from "../../db/throttle.ts";
import { withoutPerson } from "../paths.ts";

/** The most refusals of one caller that are logged in one organization, so that no caller can flood the audit log. */
const noted: Limit = { calls: 20, windowMs: 10 * 60 * 1000 };

/** The most characters of a path in the log. */
const longestPath = 256;

const routeOf = (method: string, path: string) => `${method} ${clip(storable(withoutPerson(path)), longestPath)}`;

/** The organization whose log gets the entry. The id of a caller without any organization belongs to no row. */
const logOf = ({ organizationSlug, organizationId }: Membership) => (organizationSlug === "" ? null : organizationId);

/** Writes a request, as `action`, into the log of the addressed organization (managed M3, M5). */
export function recordUse(
  ctx: Ctx,
  action: "token.use" | "impersonation.request",
  method: string,
  path: string,
): Promise<void> {
  const { actor, membership, request, database } = ctx;
  const entry = { action, target: routeOf(method, path), actor, request };
  return audit(database.db, { ...entry, organizationId: logOf(membership) });
}

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
    target: routeOf(method, path),
    actor,
    request,
    organizationId: logOf(membership),
    success: false,
    summary: { message, ...(remaining === 0 ? { furtherRefusals: "not recorded within ten minutes" } : {}) },
  });
}
