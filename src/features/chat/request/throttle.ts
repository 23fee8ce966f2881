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
import type { CountedCall } from "../../turns/index.ts";
import type { Chat } from "../chat.ts";

/** The limit that counts a request: of the client's address, of the caller, or of a guard that ran before. */
export type CountedBy = "address" | "caller" | "guard";

/** The throttle of one request, which counts the request once. Without a limit it counts and refuses nothing. */
export class RequestThrottle {
  readonly countedBy: CountedBy;
  readonly #c: Context<AppEnv>;
  readonly #chat: Chat;
  #counted: CountedCall | null = null;
  #isCounted = false;

  /** The limit of an address is that of completions (decisions §1), whether or not the key is valid; 0 means no limit. */
  constructor(c: Context<AppEnv>, chat: Chat, countedBy: CountedBy) {
    this.#c = c;
    this.#chat = chat;
    this.countedBy = countedBy;
    const { chatRequestsPerMinute: calls } = chat.services.options;
    if (countedBy === "address" && calls > 0) {
      this.#limitTo(`chat:${clientKey(c.get("ip"))}`, { calls, windowMs: 60_000 });
    }
  }

  get isLimited(): boolean {
    return this.#counted !== null;
  }

  /** Applies the policy `rateLimit` to an agent's key at the client's address; null for a request without a key. */
  limitCaller(keyOf: string | null): void {
    const ip = this.#c.get("ip");
    const key = keyOf === null ? strangerKey(ip) : `api:${keyOf}:${clientKey(ip)}`;
    this.#limitTo(key, policyLimit(this.#chat.services));
  }

  /** Throws the 429, without a statement, as long as the window of an earlier refusal lasts. */
  requireNotRefused(): void {
    if (!this.#counted) return;
    const { key, limit, now } = this.#counted;
    const known = this.#chat.refused.get(key)?.value;
    // A policy may have changed the limit meanwhile.
    if (!known || known.until <= now || known.result.limit !== limit.calls) return;
    requireAllowed({ ...known.result, resetSeconds: Math.max(1, Math.ceil((known.until - now) / 1000)) });
  }

  /** Counts the request unless it was counted before. Throws the 429. */
  async count(): Promise<void> {
    if (!this.#counted || this.#isCounted) return;
    this.#isCounted = true;
    const result = await countCall(this.#chat.services, this.#counted.key, this.#counted.limit);
    if (!result.allowed) this.#remember(this.#counted, result);
    requireAllowed(result);
  }

  /** Counts a refused request unless it was counted before, without a statement. Throws the 429. */
  countRefused(): void {
    if (this.#isCounted) return;
    this.#isCounted = true;
    countRefused(this.#c, this.#counted?.key);
  }

  /** Lets OPEN count the request unless it was counted before. Rejects as `take` does, such as with OPEN's 429. */
  handOver<T>(take: (throttle: CountedCall | null) => Promise<T>): Promise<T> {
    const counted = this.#counted;
    if (!counted || this.#isCounted) return take(null);
    this.#isCounted = true;
    return take(counted).catch((refusal: unknown) => {
      if (refusal instanceof Throttled) this.#remember(counted, refusal.result);
      throw refusal;
    });
  }

  /** When an attempt to answer is repeated, the limit of the first attempt stays. */
  #limitTo(key: string, limit: Limit): void {
    this.#counted ??= { key, limit, now: this.#chat.services.clock.now() };
  }

  #remember({ key, now }: CountedCall, result: ThrottleResult): void {
    this.#chat.refused.set(key, { result, until: now + result.resetSeconds * 1000 });
  }
}
