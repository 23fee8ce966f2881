import type { Actor, Ctx, UserActor } from "../../context/ctx.ts";
import { EngineError } from "../../core/errors.ts";

/** Whether the caller is a personal token that works across organizations. */
export const isAcrossOrganizations = (actor: Actor) => actor.type === "user" && actor.token?.scope === "installation";

/**
 * Throws the 403 for a credential other than a session (managed M2). An impersonation passes: it only reads.
 */
export function requireSession(actor: Actor): asserts actor is UserActor {
  requireOneOrganization(actor);
  if (actor.type !== "user" || actor.token) throw new EngineError("forbidden", "This route needs a signed-in session");
}

/** Throws the 403 for a token that works across organizations (managed M3). */
export function requireOneOrganization(actor: Actor): void {
  if (isAcrossOrganizations(actor)) {
    throw new EngineError("forbidden", "This route refuses tokens that work across organizations");
  }
}

/** Throws the 400 for a token that works across organizations in a request that names none. */
export function requireOrganization({ actor, membership }: Ctx): void {
  if (isAcrossOrganizations(actor) && membership.organizationSlug === "") {
    throw new EngineError("bad-request", "X-Organization: must name the organization");
  }
}
