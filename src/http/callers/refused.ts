import type { Context } from "hono";
import { policyLimit, requireAllowed } from "../../core/limits/throttle.ts";
import type { AppEnv } from "../environment.ts";
import { clientKey } from "./address.ts";

/** The counter of requests without valid credentials, for the policy `rateLimit`. */
export const strangerKey = (ip: string) => `api:${clientKey(ip)}`;

/**
 * Counts a request that no statement counts: one that was refused before, or one without credentials. Throws the 429 of
 * the policy `rateLimit`.
 */
export function countRefused(c: Context<AppEnv>, key = strangerKey(c.get("ip"))): void {
  const services = c.get("services");
  requireAllowed(c.get("refused").count(key, policyLimit(services), services.clock.now()).result);
}
