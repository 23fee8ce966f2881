import { type Column, type SQL, sql } from "drizzle-orm";
import { conversations } from "../../../db/schema.ts";
import type { DueWork } from "../../../jobs/schedule.ts";

/**
 * The kinds of follow-up jobs, each with the conversations' column of due times. A job's key is the id of an agent: it
 * handles all due conversations of the agent, since one row for each conversation would cost more than the work.
 */
export const followUpKinds = {
  titleConversations: conversations.titleDueAt,
  followUpConversations: conversations.followUpDueAt,
} as const;

export type FollowUpKind = keyof typeof followUpKinds;

/**
 * Whether a conversation is, or will be, due for a kind. While its title is due, no other kind is, since the job that
 * writes the title also learns. (Without statistics the planner expects `is null` to match few rows, and would sort
 * them all instead of using the index.)
 */
export function isDue(kind: FollowUpKind): SQL {
  const { titleDueAt, followUpDueAt } = conversations;
  return kind === "titleConversations"
    ? sql`${titleDueAt} is not null`
    : sql`${followUpDueAt} is not null and num_nulls(${titleDueAt}) <> 0`;
}

interface AgentOf {
  agentId: SQL | Column;
  organizationId: SQL | Column;
}

/** The job that writes an agent's titles, as a row. One that waits already gets the earlier time. */
export function titlesJob(agent: AgentOf, runAt: SQL) {
  return { ...jobOf("titleConversations", agent), id: sql`gen_random_uuid()`, runAt };
}

/**
 * The jobs of all agents with conversations that become due before the horizon; resting conversations need no earlier
 * job. The index is read agent by agent, since each may have thousands of conversations.
 */
export const dueFollowUps: DueWork = ({ horizon }) => {
  const kinds = Object.keys(followUpKinds) as FollowUpKind[];
  return sql.join(
    kinds.map((kind) => dueOf(kind, horizon)),
    sql` union all `,
  );
};

function dueOf(kind: FollowUpKind, horizon: SQL): SQL {
  const dueAt = followUpKinds[kind];
  const { agentId, organizationId } = conversations;
  const earliest = (condition: SQL) => sql`(
    select ${agentId} as agent_id, ${organizationId} as organization_id, ${dueAt} as due_at from ${conversations}
    where ${isDue(kind)} and ${condition} order by ${agentId}, ${dueAt} limit 1)`;
  const job = jobOf(kind, { agentId: sql`agent_id`, organizationId: sql`organization_id` });
  return sql`(
    with recursive walk as (
      ${earliest(sql`true`)} union all
      select next.* from walk cross join lateral ${earliest(sql`${agentId} > walk.agent_id`)} next
    ) select ${job.kind}, ${job.key}, ${job.organizationId}, ${job.payload}, due_at from walk where due_at <= ${horizon})`;
}

function jobOf(kind: FollowUpKind, { agentId, organizationId }: AgentOf) {
  const payload = sql`jsonb_build_object('agentId', ${agentId})`;
  return { kind: sql`${kind}`, key: sql`${agentId}::text`, organizationId, payload };
}
