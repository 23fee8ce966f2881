import { and, asc, type Column, eq, sql } from "drizzle-orm";
import { authorOf, type Ctx } from "../../context/ctx.ts";
import { write } from "../../context/write.ts";
import { type Changes, changesBetween } from "../../core/changes.ts";
import { EngineError, notFound } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { sortByName } from "../../core/text/names.ts";
import { monthOf } from "../../core/time/calendar.ts";
import { writeArray } from "../../db/arrays.ts";
import { type Db, sqlState } from "../../db/client.ts";
import { assign, column, excluded, insertInto } from "../../db/fragments.ts";
import { agents, agentTools, turns, userBudgetPeriods, workspaces } from "../../db/schema.ts";
import { touchAskers } from "./askers.ts";
import { endTasksOfOpenWeb } from "./end-tasks.ts";
import { type AgentRow, selectInstances, toInstance, withinReach, writeAgent } from "./find.ts";
import { isSlug, modelColumns } from "./rules.ts";
import type { AgentChanges, Instance, NewAgent } from "./schema.ts";
import { holdSkills, syncSkillTools } from "./skill-tools.ts";

/** All reachable agents, by name. */
export async function listAgents(ctx: Ctx): Promise<Instance[]> {
  const rows = await selectInstances(ctx.db).where(withinReach(ctx)).orderBy(asc(agents.slug));
  return sortByName(rows.map(toInstance));
}

/** Throws the 404. */
export async function getAgent(ctx: Ctx, slug: string): Promise<Instance> {
  if (!isSlug(slug)) throw notFound("Agent");
  const [row] = await selectInstances(ctx.db).where(and(eq(agents.slug, slug), withinReach(ctx)));
  if (!row) throw notFound("Agent");
  return toInstance(row);
}

/**
 * Creates an agent, with the channel `web` off and the key required, as the spec says. Throws 404 for the workspace,
 * 409 for the slug.
 */
export async function createAgent(ctx: Ctx, input: NewAgent): Promise<Instance> {
  const id = newId();
  const { slug } = input;
  const change = { action: "agent.create", target: slug, agentId: id };
  try {
    await write(ctx, change, (tx) => insertAgent(tx, ctx, id, input));
  } catch (error) {
    if (sqlState(error) !== "23505") throw error;
    throw new EngineError("conflict", `The slug ${slug} is taken`);
  }
  return getAgent(ctx, slug);
}

/**
 * Creates an agent in a transaction of `write`. Throws the 404 of the workspace, and the database's 23505 for a taken
 * slug.
 */
export async function insertAgent(
  tx: Db,
  ctx: Ctx,
  id: string,
  { slug, workspaceId, ...input }: NewAgent,
): Promise<AgentRow> {
  const author = authorOf(ctx);
  const { organizationId } = ctx.membership;
  const [agent] = await tx
    .insert(agents)
    .values({
      ...columnsOf(ctx, input),
      id,
      slug,
      name: input.name ?? slug,
      organizationId,
      workspaceId: await reachWorkspace(tx, ctx, workspaceId),
      createdBy: author,
      updatedBy: author,
      // `write` raises the revision to 1.
      revision: 0,
    })
    .returning();
  if (!agent) throw new Error("The agent is gone");
  await tx.insert(agentTools).values({ agentId: id, name: "readSkill", source: "manual" });
  // Other agents may still have a tool that calls a former agent of this slug.
  await touchAskers(tx, { slug, organizationId });
  return agent;
}

/** The fields that decide whether and how other agents can call this agent. */
const shownToAskers: ReadonlySet<string> = new Set(["name", "description", "active", "status", "workspaceId"]);

/** Changes an agent. Throws 404 for the agent and the workspace, 412 when `ifMatch` names an older revision. */
export async function updateAgent(ctx: Ctx, slug: string, input: AgentChanges, ifMatch?: string): Promise<Instance> {
  const changed: Changes = {};
  const concernsAskers = Object.keys(input).some((field) => shownToAskers.has(field));
  const change = { action: "agent.update", changes: changed, concernsAskers, ifMatch };
  await writeAgent(ctx, slug, change, async (tx, agent) => {
    const updated = await changeAgent(tx, ctx, agent, input);
    Object.assign(changed, changesBetween(configurationOf(agent), configurationOf(updated)));
    if (concernsAskers) await touchAskers(tx, agent);
  });
  return getAgent(ctx, slug);
}

/** Changes an agent in a transaction of `writeAgent`. Throws the 404 of the workspace. */
export async function changeAgent(
  tx: Db,
  ctx: Ctx,
  agent: AgentRow,
  { workspaceId, ...changes }: AgentChanges,
): Promise<AgentRow> {
  const { id, workspaceId: from } = agent;
  const target = workspaceId === undefined ? undefined : await reachWorkspace(tx, ctx, workspaceId);
  const columns = { ...columnsOf(ctx, changes), workspaceId: target, updatedBy: authorOf(ctx) };
  const [updated] = await tx.update(agents).set(columns).where(eq(agents.id, id)).returning();
  if (!updated) throw notFound("Agent");
  if (target !== undefined && target !== from) {
    // Another workspace may allow other skills.
    await holdSkills(tx, id);
    await syncSkillTools(tx, ctx, [id]);
  }
  if (updated.authEnabled && !agent.authEnabled)
    await endTasksOfOpenWeb(tx, { agent, reason: "authentication", by: ctx });
  const begins = (budget: "userMonthlyTokenBudget" | "userMonthlyCostBudget") =>
    agent[budget] === null && updated[budget] !== null;
  if (begins("userMonthlyTokenBudget") || begins("userMonthlyCostBudget")) {
    await beginUserBudgets(tx, id, ctx.clock.now());
  }
  return updated;
}

/** The columns that requests can set. */
function configurationOf({ authKeyHmac, revision, createdBy, updatedBy, createdAt, updatedAt, ...columns }: AgentRow) {
  return columns;
}

/** Runs in the transaction that deletes an agent, before the deletion. */
export type BeforeDelete = (tx: Db, agentId: string) => Promise<unknown>;

/** Deletes the agent with all its data. Throws the 404. */
export async function deleteAgent(ctx: Ctx, slug: string, beforeDelete: BeforeDelete): Promise<void> {
  await writeAgent(ctx, slug, { action: "agent.delete", concernsAskers: true }, async (tx, agent) => {
    await beforeDelete(tx, agent.id);
    await tx.delete(agents).where(eq(agents.id, agent.id));
    await touchAskers(tx, agent);
  });
}

function columnsOf(ctx: Ctx, { status, active, provider, model, ...changes }: Omit<AgentChanges, "workspaceId">) {
  const { monthlyCostBudget, userMonthlyCostBudget, ...others } = changes;
  const rest = ctx.options.edition.has("providers") ? changes : others;
  return { ...rest, ...modelColumns({ provider, model }), active: status === undefined ? active : status === "active" };
}

/**
 * The given workspace, or else the first one that the caller reaches. Locked until the transaction ends. Throws the
 * 404, or the 403 for a caller who reaches none.
 */
async function reachWorkspace(tx: Db, { membership }: Ctx, id: string | undefined): Promise<string> {
  const scope = membership.workspaceIds;
  const [workspace] = await tx
    .select({ id: workspaces.id })
    .from(workspaces)
    .where(
      and(
        eq(workspaces.organizationId, membership.organizationId),
        id === undefined ? undefined : eq(workspaces.id, id),
        scope ? sql`${workspaces.id} = any(${writeArray(scope)}::uuid[])` : undefined,
      ),
    )
    .orderBy(asc(workspaces.createdAt), asc(workspaces.id))
    .limit(1)
    .for("key share");
  if (workspace) return workspace.id;
  if (id !== undefined) throw notFound("Workspace");
  throw new EngineError(
    "forbidden",
    "You reach no workspace of this organization: an Owner or Admin can add you to one",
  );
}

/**
 * When a budget begins during a month, stores each end user's usage of the month so far, so that no later turn has to
 * add it up. An earlier budget in the month may have left a row with its exact charges, but without the usage outside
 * that budget: the larger value counts.
 */
async function beginUserBudgets(tx: Db, agentId: string, now: number): Promise<void> {
  const month = monthOf(now);
  const used = sql`coalesce(sum(${turns.promptTokens}::bigint + ${turns.completionTokens}), 0)`;
  const costUsed = sql`coalesce(sum(${turns.costMicros}), 0)`;
  const { agentId: agent, subject, month: ofMonth } = userBudgetPeriods;
  const largerOf = (of: Column) => sql`greatest(${of}, ${excluded(of)})`;
  const larger = { used: largerOf(userBudgetPeriods.used), costUsed: largerOf(userBudgetPeriods.costUsed) };
  const key = { agentId: turns.agentId, subject: turns.subject, month: sql`${month}::date` };
  await tx.execute(sql`
    ${insertInto(userBudgetPeriods, { ...key, used, costUsed })}
    from ${turns} where ${eq(turns.agentId, agentId)} and ${turns.createdAt} >= ${month}::timestamp at time zone 'UTC'
    group by ${turns.agentId}, ${turns.subject}
    on conflict (${column(agent)}, ${column(subject)}, ${column(ofMonth)})
      do update set ${assign(userBudgetPeriods, larger)}`);
}
