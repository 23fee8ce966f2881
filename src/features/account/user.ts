import type { Ctx, UserActor } from "../../context/ctx.ts";
import { requireSession } from "../../http/callers/restrictions.ts";

/** The signed-in person of the request. Throws the 403 for a management key and a personal token. */
export function userOf({ actor }: Ctx): UserActor {
  requireSession(actor);
  return actor;
}

/** The default name of a new account. */
export function nameOf(email: string): string {
  return email.split("@")[0] ?? email;
}
