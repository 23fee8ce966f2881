import type { Context } from "hono";
import {
  type Limit,
  policyLimit,
  requireAllowed,
  Throttled,
  type ThrottleResult,
} from "../../../core/limits/throttle.ts";
import { countCall } from "../../../db/throttle.ts";
import { clientKey } from "../../../http/callers/address.ts";
import { countRefused, strangerKey } from "../../../http/callers/refused.ts";
import type { AppEnv } from "../../../http/environment.ts";
import type { TurnRequest } from "../../turns/index.ts";
import type { Chat } from "../chat.ts";
import type { DoorGrant } from "./agent-key.ts";

const minute = 60_000;

/** The limit that counts a call at a door. */
interface CallLimit {
  key: string;
  limit: Limit;
}

/** The throttle of completions (decisions §1), for each client address, with or without a valid key; null for none. */
export function chatLimit(c: Context<AppEnv>): CallLimit | null {
  const calls = c.get("services").options.chatRequestsPerMinute;
  return calls === 0 ? null : { key: `chat:${clientKey(c.get("ip"))}`, limit: { calls, windowMs: minute } };
}

/** The policy `rateLimit`: for each agent key at each client address, and for a call without one, by the address. */
export function callerLimit(c: Context<AppEnv>, grant: DoorGrant): CallLimit {
  if (grant.holdsKey) return keyLimit(c, grant.agent.row.id);
  return { key: strangerKey(c.get("ip")), limit: policyLimit(c.get("services")) };
}

/** The policy `rateLimit` for the holder of an agent's key. */
export function keyLimit(c: Context<AppEnv>, agentId: string): CallLimit {
  return { key: `api:${agentId}:${clientKey(c.get("ip"))}`, limit: policyLimit(c.get("services")) };
}

/** The throttle of one call; counts the call once. */
export class CallThrottle {
  readonly #chat: Chat;
  readonly #counted: { key: string; limit: Limit; now: number };
  #isCounted = false;

  constructor(chat: Chat, limit: CallLimit) {
    this.#chat = chat;
    this.#counted = { ...limit, now: chat.services.clock.now() };
  }

  /** Throws the 429 without a statement while the window of an earlier refusal lasts. */
  requireNotRefused(): void {
    const { key, limit, now } = this.#counted;
    const known = this.#chat.refused.get(key)?.value;
    // A policy may have raised the limit meanwhile.
    if (!known || known.until <= now || known.result.limit !== limit.calls) return;
    requireAllowed({ ...known.result, resetSeconds: Math.max(1, Math.ceil((known.until - now) / 1000)) });
  }

  /** Counts the call unless it was counted before. Throws the 429. */
  async count(): Promise<void> {
    if (this.#isCounted) return;
    this.#isCounted = true;
    const { key, limit } = this.#counted;
    const result = await countCall(this.#chat.services, key, limit);
    if (!result.allowed) this.#remember(result);
    requireAllowed(result);
  }

  /** Counts a refused call unless it was counted before, without a statement. Throws the 429. */
  countRefused(c: Context<AppEnv>): void {
    if (this.#isCounted) return;
    this.#isCounted = true;
    countRefused(c, this.#counted.key);
  }

  /** Lets OPEN count the call unless it was counted before. Throws what `take` throws, as the 429 of OPEN. */
  async handOver<T>(take: (throttle: TurnRequest["throttle"]) => Promise<T>): Promise<T> {
    if (this.#isCounted) return take(null);
    this.#isCounted = true;
    try {
      return await take(this.#counted);
    } catch (refusal) {
      if (refusal instanceof Throttled) this.#remember(refusal.result);
      throw refusal;
    }
  }

  #remember(result: ThrottleResult): void {
    const { key, now } = this.#counted;
    this.#chat.refused.set(key, { result, until: now + result.resetSeconds * 1000 });
  }
}
