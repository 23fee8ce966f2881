import type { Context } from "hono";
import type { Actor, Ctx } from "../context.ts";
import { EngineError } from "../core/errors.ts";
import type { AppEnv } from "./environment.ts";

/** Finds out who calls and which organization is addressed, in one query. Throws the 401s and the 404. */
export async function authenticate(_c: Context<AppEnv>): Promise<Ctx> {
  throw new EngineError("unauthorized", "Missing credentials");
}

/** Throws the 403 for a management key where only a signed-in person may act. */
export function requireSession(actor: Actor): void {
  if (actor.type !== "user") throw new EngineError("forbidden", "This needs a signed-in session");
}
