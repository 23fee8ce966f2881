import { eq, sql } from "drizzle-orm";
import type { Ctx } from "../../context/ctx.ts";
import { EngineError, notFound } from "../../core/errors.ts";
import { users } from "../../db/schema.ts";
import type { OnboardingChange } from "./schema.ts";
import { userOf } from "./user.ts";

/** The most that `onboarding` may have as JSON in UTF-8 (decisions §2). */
const maxBytes = 8192;

/**
 * Merges a change into the user's `onboarding`; null removes a key. No simultaneous change is lost. Throws the 413 when
 * the result is too large.
 */
export async function changeOnboarding(ctx: Ctx, change: OnboardingChange): Promise<void> {
  const ownRow = eq(users.id, userOf(ctx).id);
  await ctx.database.transaction(async (tx) => {
    const [user] = await tx.select({ stored: users.onboarding }).from(users).where(ownRow).for("no key update");
    if (!user) throw notFound("User");
    const onboarding = mergeOnboarding(user.stored, change);
    await tx.update(users).set({ onboarding, updatedAt: sql`now()` }).where(ownRow);
  });
}

/** `stored` with the change, without the keys that it sets to null. Throws the 413 when the result is too large. */
export function mergeOnboarding(stored: Record<string, unknown>, change: OnboardingChange): Record<string, unknown> {
  const entries = Object.entries({ ...stored, ...change }).filter(([, value]) => value !== null);
  const merged = Object.fromEntries(entries);
  if (new TextEncoder().encode(JSON.stringify(merged)).length > maxBytes) {
    throw new EngineError("too-large", `onboarding: must be at most ${maxBytes} bytes of JSON, with what is stored`);
  }
  return merged;
}
