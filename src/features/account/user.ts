import type { Actor, Ctx } from "../../context.ts";
import { EngineError } from "../../core/errors.ts";

/** A person with a session. */
export type User = Extract<Actor, { type: "user" }>;

/** The person behind the session. Throws the 403 for a management key, which is nobody. */
export function userOf({ actor }: Ctx): User {
  if (actor.type !== "user") throw new EngineError("forbidden", "This needs a signed-in session");
  return actor;
}
