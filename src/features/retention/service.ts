import { and, eq, sql } from "drizzle-orm";
import { authorOf, type Ctx, type Services } from "../../context/ctx.ts";
import { type Changes, changesBetween } from "../../core/changes.ts";
import { type RetentionSubject, retentionSubjects } from "../../core/retention.ts";
import type { Db } from "../../db/client.ts";
import { earlierNow } from "../../db/fragments.ts";
import { agents, retentionPolicies } from "../../db/schema.ts";
import { type RetainedRows, readOld } from "../../jobs/retained-rows.ts";
import { writeOrganization } from "../organizations/index.ts";
import type { Counts, NewPolicies, Policies, Policy, PreviewRequest } from "./schema.ts";

const dayMs = 86_400_000;

/** The days of a policy that was never set. */
const usualDays = 365;

/** The policies of all subjects, in their order. */
export async function readPolicies(ctx: Ctx): Promise<Policies> {
  return { policies: [...(await policiesOf(ctx.db, ctx.membership.organizationId)).values()] };
}

async function policiesOf(db: Db, organizationId: string): Promise<Map<RetentionSubject, Policy>> {
  const rows = await db.select().from(retentionPolicies).where(eq(retentionPolicies.organizationId, organizationId));
  const stored = new Map(rows.map((row) => [row.subject, row]));
  return new Map(
    retentionSubjects.map((subject) => {
      const { enabled = false, days = usualDays, nextRunAt, lastRunAt } = stored.get(subject) ?? {};
      const times = { nextRunAt: nextRunAt?.toISOString() ?? null, lastRunAt: lastRunAt?.toISOString() ?? null };
      return [subject, { subject, enabled, days, ...times }];
    }),
  );
}

/**
 * Sets the policies; those of subjects that are not named are turned off. The first deletion is 24 hours after a policy
 * was turned on, or got fewer days.
 */
export async function changePolicies(ctx: Ctx, { policies }: NewPolicies): Promise<Policies> {
  const { organizationId, organizationSlug } = ctx.membership;
  const changes: Changes = {};
  await writeOrganization(ctx, { action: "retention.update", target: organizationSlug, changes }, async (tx) => {
    const before = await policiesOf(tx, organizationId);
    const wanted = new Map(policies.map((policy) => [policy.subject, policy]));
    for (const old of before.values()) {
      const { enabled, days } = wanted.get(old.subject) ?? { ...old, enabled: false };
      const changed = changesBetween({ enabled: old.enabled, days: old.days }, { enabled, days });
      if (Object.keys(changed).length === 0) continue;
      for (const [field, change] of Object.entries(changed)) changes[`${old.subject}.${field}`] = change;
      await storePolicy(tx, ctx, { subject: old.subject, enabled, days, isStricter: !old.enabled || days < old.days });
    }
  });
  return readPolicies(ctx);
}

interface StoredPolicy extends Pick<Policy, "subject" | "enabled" | "days"> {
  /** Whether rows are deleted that the earlier policy leaves. */
  isStricter: boolean;
}

async function storePolicy(tx: Db, ctx: Ctx, { subject, enabled, days, isStricter }: StoredPolicy): Promise<void> {
  const { organizationId } = ctx.membership;
  const off = { enabledAt: null, nextRunAt: null };
  const begun = { enabledAt: sql`now()`, nextRunAt: sql`now() + interval '24 hours'` };
  const times = enabled ? (isStricter ? begun : {}) : off;
  const values = { enabled, days, ...times, updatedBy: authorOf(ctx), updatedAt: sql`now()` };
  await tx
    .insert(retentionPolicies)
    .values({ organizationId, subject, ...values })
    .onConflictDoUpdate({ target: [retentionPolicies.organizationId, retentionPolicies.subject], set: values });
}

/**
 * Counts the rows that a deletion now would delete, by the same conditions: with the given policies, else with the
 * stored ones, whether they are on or not.
 */
export async function previewPolicies(
  ctx: Ctx,
  retained: readonly RetainedRows[],
  { policies }: PreviewRequest,
): Promise<Counts> {
  const { organizationId } = ctx.membership;
  const wanted = policies ?? (await policiesOf(ctx.db, organizationId)).values();
  const now = await trustedNow(ctx);
  const agentIds = await agentsOf(ctx.db, organizationId);
  const counts = noCounts();
  for (const { subject, days } of wanted) {
    const before = new Date(now.getTime() - days * dayMs);
    for (const rows of retained.filter((one) => one.subject === subject)) {
      for (const agentId of agentIds) {
        for await (const ids of readOld(ctx.db, rows, { agentId, now, before })) counts[subject] += ids.length;
      }
    }
  }
  return counts;
}

/** Zero for each subject. */
export const noCounts = () =>
  Object.fromEntries(retentionSubjects.map((subject) => [subject, 0])) as Record<RetentionSubject, number>;

/** The present by the slower of the process's and the database's clock. */
export async function trustedNow({ database, clock }: Pick<Services, "database" | "clock">): Promise<Date> {
  const [row] = await database.db.execute<{ ms: number }>(
    sql`select (extract(epoch from ${earlierNow(clock.now())}) * 1000)::float8 as ms`,
  );
  return new Date(Math.floor(row?.ms ?? 0));
}

export async function agentsOf(db: Db, organizationId: string): Promise<string[]> {
  const rows = await db
    .select({ id: agents.id })
    .from(agents)
    .where(eq(agents.organizationId, organizationId))
    .orderBy(agents.id);
  return rows.map(({ id }) => id);
}

export const ofPolicy = (organizationId: string, subject: string) =>
  and(eq(retentionPolicies.organizationId, organizationId), eq(retentionPolicies.subject, subject));
