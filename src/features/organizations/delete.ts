import { z } from "@hono/zod-openapi";
import { and, eq, isNotNull, sql } from "drizzle-orm";
import { type Ctx, type Services, systemCtx } from "../../context/ctx.ts";
import { EngineError, notFound } from "../../core/errors.ts";
import type { Database } from "../../db/client.ts";
import { accessTokens, agents, auditLogs, invitations, members, organizations } from "../../db/schema.ts";
import type { JobKinds } from "../../jobs/attempt.ts";
import { defineJob } from "../../jobs/define.ts";
import { enqueue } from "../../jobs/enqueue.ts";
import { Postponed } from "../../jobs/postponed.ts";
import { type BeforeDelete, deleteAgent } from "../agents/index.ts";
import type { OrganizationDeletion } from "./schema.ts";
import { writeOrganization } from "./write.ts";

/** Deletes the rows of a deleted organization. */
const deletionJob = defineJob(
  "organization.delete",
  z.object({ organizationId: z.uuid() }),
  ({ organizationId }) => organizationId,
);

/** The attempts of a job. With their pauses they take about two days, like those that delete files. */
const maxAttempts = 300;

/**
 * Deletes the request's organization: ends the access of its members, keys and callers at once, and enqueues the
 * deletion of its rows. Throws the 400 for another slug, the 409 for the first organization, and the 404.
 */
export async function deleteOrganization(ctx: Ctx, { confirm }: OrganizationDeletion): Promise<void> {
  const { organizationId, organizationSlug, first } = ctx.membership;
  await writeOrganization(ctx, { action: "organization.delete", target: organizationSlug }, async (tx) => {
    const own = eq(organizations.id, organizationId);
    const [organization] = await tx.select({ slug: organizations.slug }).from(organizations).where(own);
    if (!organization) throw notFound("Organization");
    if (confirm !== organization.slug) {
      throw new EngineError("bad-request", "confirm: must be the organization's slug");
    }
    if (first) throw new EngineError("conflict", "The first organization stays");
    await tx.update(organizations).set({ deletedAt: sql`now()` }).where(own);
    await tx.delete(members).where(eq(members.organizationId, organizationId));
    await tx.delete(accessTokens).where(eq(accessTokens.organizationId, organizationId));
    await tx.delete(invitations).where(eq(invitations.organizationId, organizationId));
    // Closes every door. Channels stay on, since the deletion of an agent leaves only those at their messengers.
    const closed = { active: false, revision: sql`${agents.revision} + 1` };
    await tx.update(agents).set(closed).where(eq(agents.organizationId, organizationId));
    await enqueue(tx, deletionJob.of({ organizationId }), { organizationId, maxAttempts });
  });
}

/** How long an attempt may take, in milliseconds: an agent goes in one transaction, and may have millions of rows. */
const longestMs = 60 * 60_000;

/** The job: deletes the agents one by one, then the organization. Each step may be repeated. */
export function organizationJobs(services: Services, beforeDelete: BeforeDelete): JobKinds {
  const { database, clock } = services;
  return deletionJob.doneBy(
    async ({ payload: { organizationId } }, signal) => {
      const isDeleted = and(eq(organizations.id, organizationId), isNotNull(organizations.deletedAt));
      const [organization] = await database.db
        .select({ slug: organizations.slug })
        .from(organizations)
        .where(isDeleted);
      if (!organization) return;
      const place = { organizationId, organizationSlug: organization.slug };
      const ctx = systemCtx(services, place, "deletion of the organization");
      for (
        let slug = await nextAgent(database, organizationId);
        slug;
        slug = await nextAgent(database, organizationId)
      ) {
        signal.throwIfAborted();
        await deleteAgent(ctx, slug, beforeDelete);
      }
      await detachEntries(database, organizationId, signal);
      await database.transaction(async (tx) => {
        // Waits for a request that was admitted before the deletion and creates an agent.
        await tx.select({ id: organizations.id }).from(organizations).where(isDeleted).for("update");
        const late = await nextAgent({ db: tx }, organizationId);
        if (late) throw new Postponed("An agent was created meanwhile", clock.now());
        await tx.delete(organizations).where(isDeleted);
      });
    },
    { limit: 1, longestMs },
  );
}

async function nextAgent({ db }: Pick<Database, "db">, organizationId: string): Promise<string | undefined> {
  const [agent] = await db
    .select({ slug: agents.slug })
    .from(agents)
    .where(eq(agents.organizationId, organizationId))
    .orderBy(agents.id)
    .limit(1);
  return agent?.slug;
}

/** The most entries of one statement: all of a large organization's would exceed its deadline. */
const batchSize = 5_000;

/** Makes the audit log's entries of the organization entries of the installation, which name it by its id. */
async function detachEntries({ db }: Database, organizationId: string, signal: AbortSignal): Promise<void> {
  const summary = sql`${auditLogs.summary} || ${JSON.stringify({ organizationId })}::jsonb`;
  const own = eq(auditLogs.organizationId, organizationId);
  for (let detached = batchSize; detached === batchSize; ) {
    signal.throwIfAborted();
    const some = db.select({ id: auditLogs.id }).from(auditLogs).where(own).limit(batchSize);
    const rows = await db
      .update(auditLogs)
      .set({ organizationId: null, summary })
      .where(sql`${auditLogs.id} = any(array(${some}))`)
      .returning({ id: auditLogs.id });
    detached = rows.length;
  }
}
