import { EngineError, type LimitStatus } from "../errors.ts";
import type { CurrentPolicies } from "../policies.ts";

/** The most requests in a window. The first request begins the window. */
export interface Limit {
  calls: number;
  windowMs: number;
}

/** The counted requests of a window. */
export interface ThrottleWindow {
  count: number;
  /** The end of the window, in milliseconds since the epoch. */
  resets_at_ms: number;
}

/** The result of counting a request. */
export interface ThrottleResult extends LimitStatus {
  allowed: boolean;
}

/** Whether the limit allows the request that was counted last in a window. */
export function judge({ count, resets_at_ms }: ThrottleWindow, { calls }: Limit, now: number): ThrottleResult {
  return {
    allowed: count <= calls,
    limit: calls,
    remaining: Math.max(0, calls - count),
    resetSeconds: Math.max(1, Math.ceil((resets_at_ms - now) / 1000)),
  };
}

/** The policy `rateLimit`. */
export function policyLimit({ policies }: { policies: CurrentPolicies }): Limit {
  const { limit, windowSeconds } = policies.values.rateLimit;
  return { calls: limit, windowMs: windowSeconds * 1000 };
}

/** The 429 of a request limit. */
export class Throttled extends EngineError {
  readonly result: ThrottleResult;

  constructor(result: ThrottleResult, message: string) {
    super("rate-limited", message, { limit: result });
    this.result = result;
  }
}

/** Throws the 429 of decisions §3 unless the request was allowed. */
export function requireAllowed(result: ThrottleResult, what = "requests"): void {
  if (result.allowed) return;
  const { resetSeconds } = result;
  const when = `try again in ${resetSeconds} second${resetSeconds === 1 ? "" : "s"}`;
  throw new Throttled(result, `Too many ${what}: ${when}`);
}
