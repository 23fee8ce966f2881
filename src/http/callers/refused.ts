import type { Context } from "hono";
import type { AppEnv } from "../environment.ts";
import { clientKey } from "./address.ts";
import { policyLimit, requireAllowed } from "./throttle.ts";

/** The key by which the policy `rateLimit` counts calls without valid credentials. */
export const strangerKey = (ip: string) => `api:${clientKey(ip)}`;

/**
 * Counts a call that no statement counts: one that is refused before, or that needs no credentials. Throws the 429 of the
 * policy `rateLimit`.
 */
export function countRefused(c: Context<AppEnv>, key = strangerKey(c.get("ip"))): void {
  const services = c.get("services");
  requireAllowed(c.get("refused").count(key, policyLimit(services), services.clock.now()).verdict);
}
