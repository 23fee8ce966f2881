import type { Actor, Ctx } from "../../context/ctx.ts";
import { EngineError } from "../../core/errors.ts";
import { sessionNeeded } from "../../http/callers/authentication.ts";

/** A signed-in person. */
export type User = Extract<Actor, { type: "user" }>;

/** The signed-in person of the request. Throws the 403 for a management key. */
export function userOf({ actor }: Ctx): User {
  if (actor.type !== "user") throw new EngineError("forbidden", sessionNeeded);
  return actor;
}

/** The default name of a new account. */
export function nameOf(email: string): string {
  return email.split("@")[0] ?? email;
}
