import { eq, sql } from "drizzle-orm";
import { type Ctx, publicAddress, type Services } from "../../context/ctx.ts";
import { installationLog, write } from "../../context/write.ts";
import { type Changes, changesBetween } from "../../core/changes.ts";
import { type PolicyChanges, readPolicies } from "../../core/policies.ts";
import { installation } from "../../db/schema.ts";
import { changedPolicies, givenChanges } from "./rules.ts";
import type { PoliciesAnswer } from "./schema.ts";

/**
 * Applies the stored policies in this process. Rejects without any change when the database fails. Values that this
 * release can't read are ignored and logged once.
 */
export async function loadPolicies({ database, policies, log }: Services): Promise<void> {
  const [stored] = await database.db
    .select({ policies: installation.policies, revision: installation.policiesRevision })
    .from(installation)
    .where(eq(installation.id, 1));
  if (!stored) return;
  const { policies: values, ignored } = readPolicies(stored.policies);
  policies.set(values, stored.revision);
  if (policies.isNews(ignored)) {
    log.warn({ policies: ignored }, "Stored policies that this release can't take are ignored");
  }
}

/** Applies the stored policies and returns all of them. */
export async function showPolicies(ctx: Ctx): Promise<PoliciesAnswer["policies"]> {
  await loadPolicies(ctx);
  return { ...ctx.policies.values, publicAddress: publicAddress(ctx) };
}

/** Changes the given policies: in this process at once, in the others with their next tick. Returns all policies. */
export async function changePolicies(ctx: Ctx, input: PolicyChanges): Promise<PoliciesAnswer["policies"]> {
  const changes = givenChanges(input);
  if (Object.keys(changes).length > 0) await storeChanges(ctx, changes);
  return showPolicies(ctx);
}

async function storeChanges(ctx: Ctx, changes: Record<string, unknown>): Promise<void> {
  const changed: Changes = {};
  const change = { action: "policy.update", target: "policies", changes: changed, logs: () => installationLog(ctx) };
  await write(ctx, change, async (tx) => {
    // Locked (the row exists since the first start), so that no change at the same time is lost.
    const [row] = await tx
      .insert(installation)
      .values({ id: 1 })
      .onConflictDoUpdate({ target: installation.id, set: { id: 1 } })
      .returning({ policies: installation.policies });
    const before = row?.policies ?? {};
    const policies = changedPolicies(before, changes);
    const unset = Object.fromEntries(Object.keys(changes).map((name) => [name, null]));
    Object.assign(changed, changesBetween(before, { ...unset, ...policies }));
    await tx
      .update(installation)
      .set({
        policies,
        policiesRevision: sql`${installation.policiesRevision} + 1`,
      })
      .where(eq(installation.id, 1));
  });
}
