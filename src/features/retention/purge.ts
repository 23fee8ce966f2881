import { z } from "@hono/zod-openapi";
import { and, eq, lte, sql } from "drizzle-orm";
import { audit } from "../../context/audit.ts";
import type { Ctx, Services } from "../../context/ctx.ts";
import { newId } from "../../core/ids.ts";
import { type RetentionSubject, retentionSubjects } from "../../core/retention.ts";
import { earlierNow } from "../../db/fragments.ts";
import { unlessDeadlocked } from "../../db/retry.ts";
import { auditLogs, organizations, retentionPolicies } from "../../db/schema.ts";
import type { JobKinds } from "../../jobs/attempt.ts";
import { defineJob } from "../../jobs/define.ts";
import { Postponed } from "../../jobs/postponed.ts";
import { type AgeLimit, deleteOld, type RetainedRows, readOld } from "../../jobs/retained-rows.ts";
import type { DueWork } from "../../jobs/schedule.ts";
import { agentsOf, noCounts, ofPolicy, trustedNow } from "./service.ts";

/** Deletes an organization's old rows. */
const purgeJob = defineJob(
  "retention.purge",
  z.object({ organizationId: z.uuid() }),
  (payload) => payload.organizationId,
);

/** The organizations with a policy whose deletion is due, by the slower of two clocks. */
export const duePolicies: DueWork = ({ now }) => {
  const { organizationId, enabled, nextRunAt } = retentionPolicies;
  return sql`
    select ${purgeJob.kind}, ${organizationId}::text, ${organizationId},
      jsonb_build_object('organizationId', ${organizationId}), min(${nextRunAt})
    from ${retentionPolicies} where ${enabled} and ${nextRunAt} <= ${earlierNow(now)} group by ${organizationId}`;
};

/** Rows that others need (files, hook executions) go before the conversations that they belong to. */
const order: readonly RetentionSubject[] = [...retentionSubjects].reverse();

/** How long an attempt deletes, in milliseconds; then other organizations may come first. */
const sliceMs = 5 * 60_000;

const usualBatch = 500;

/** One attempt at an organization's due deletions. */
interface Purge {
  organizationId: string;
  slug: string;
  by: Pick<Ctx, "actor" | "request">;
  /** The audit entry of this attempt. Each batch stores the counts so far in its own transaction. */
  entry: { id: string; isStored: boolean; counts: Record<RetentionSubject, number> };
  /** Throws when the attempt has to end. */
  check(): void;
}

/** The most organizations whose rows a process deletes at a time: turns need the database, too. */
const parallel = { limit: 2 };

/** The job: nothing is deleted while the feature is off. */
export function purgeJobs(services: Services, retained: () => readonly RetainedRows[]): JobKinds {
  return purgeJob.doneBy(async ({ payload: { organizationId } }, signal) => {
    const { database, clock, options } = services;
    if (!options.edition.has("administration")) return;
    const [organization] = await database.db
      .select({ slug: organizations.slug })
      .from(organizations)
      .where(eq(organizations.id, organizationId));
    if (!organization) return;
    const end = clock.now() + sliceMs;
    const purge: Purge = {
      organizationId,
      slug: organization.slug,
      by: { actor: { type: "system", id: null, name: "retention" }, request: { id: newId(), ip: "" } },
      entry: { id: newId(), isStored: false, counts: noCounts() },
      check() {
        signal.throwIfAborted();
        if (clock.now() >= end) throw new Postponed("More rows are old", clock.now());
      },
    };
    const due = await findDue(services, organizationId);
    for (const subject of order) {
      const policy = due.find((one) => one.subject === subject);
      if (policy) await purgeSubject(services, purge, policy, retained());
    }
  }, parallel);
}

type DuePolicy = Awaited<ReturnType<typeof findDue>>[number];

function findDue({ database: { db }, clock }: Services, organizationId: string) {
  const { subject, days, nextRunAt } = retentionPolicies;
  return db
    .select({ subject, days, dueAt: sql<string>`${nextRunAt}::text` })
    .from(retentionPolicies)
    .where(
      and(
        eq(retentionPolicies.organizationId, organizationId),
        eq(retentionPolicies.enabled, true),
        lte(nextRunAt, earlierNow(clock.now())),
      ),
    );
}

async function purgeSubject(
  services: Services,
  purge: Purge,
  policy: DuePolicy,
  retained: readonly RetainedRows[],
): Promise<void> {
  const { db } = services.database;
  const now = await trustedNow(services);
  const before = new Date(now.getTime() - policy.days * 86_400_000);
  for (const rows of retained.filter((one) => one.subject === policy.subject)) {
    for (const agentId of await agentsOf(db, purge.organizationId)) {
      const limit = { agentId, now, before };
      for await (const ids of readOld(db, rows, limit)) {
        purge.check();
        const size = rows.batchSize ?? usualBatch;
        for (let start = 0; start < ids.length; start += size) {
          purge.check();
          const batch = { ...limit, ids: ids.slice(start, start + size) };
          if (!(await deleteBatch(services, purge, policy, rows, batch))) return;
        }
      }
    }
  }
  const next = { lastRunAt: sql`now()`, nextRunAt: sql`now() + interval '1 day'` };
  await db.update(retentionPolicies).set(next).where(isStill(purge, policy));
}

/** Whether the policy is as it was read: somebody may turn it off, or change it, during the deletion. */
const isStill = ({ organizationId }: Purge, { subject, days, dueAt }: DuePolicy) =>
  and(
    ofPolicy(organizationId, subject),
    eq(retentionPolicies.enabled, true),
    eq(retentionPolicies.days, days),
    sql`${retentionPolicies.nextRunAt} = ${dueAt}::timestamptz`,
  );

/** Deletes a batch; false without a deletion when the policy has changed. */
async function deleteBatch(
  services: Services,
  purge: Purge,
  policy: DuePolicy,
  rows: RetainedRows,
  batch: AgeLimit & { ids: readonly string[] },
): Promise<boolean> {
  const { entry, organizationId, slug, by } = purge;
  const removed = await unlessDeadlocked(() =>
    services.database.transaction(async (tx) => {
      const [locked] = await tx
        .select({ subject: retentionPolicies.subject })
        .from(retentionPolicies)
        .where(isStill(purge, policy))
        .for("share");
      if (!locked) return null;
      const removal = { ...batch, by };
      const gone = await (rows.remove?.(tx, services, removal) ?? deleteOld(tx, rows, removal));
      const counts = { ...entry.counts, [rows.subject]: entry.counts[rows.subject] + gone.rows };
      const summary = { counts };
      if (entry.isStored) await tx.update(auditLogs).set({ summary }).where(eq(auditLogs.id, entry.id));
      else if (gone.rows > 0) {
        await audit(tx, { ...by, id: entry.id, action: "retention.purge", target: slug, summary, organizationId });
      }
      return { ...gone, counts };
    }),
  );
  if (!removed) return false;
  entry.counts = removed.counts;
  entry.isStored ||= removed.rows > 0;
  removed.committed?.();
  return true;
}
