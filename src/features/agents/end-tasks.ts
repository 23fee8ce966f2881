import { and, eq, type SQL, sql } from "drizzle-orm";
import { audit } from "../../context/audit.ts";
import type { Ctx } from "../../context/ctx.ts";
import { type SubjectKey, subjectKey } from "../../core/channels/subjects.ts";
import type { Db } from "../../db/client.ts";
import { scheduledTasks } from "../../db/schema.ts";
import type { AgentRow } from "./find.ts";

type Owner = Pick<AgentRow, "id" | "slug" | "organizationId">;

interface EndReason {
  agent: Owner;
  /** The reason that the audit log shows. */
  reason: string;
  by: Pick<Ctx, "actor" | "request">;
}

/**
 * Deletes the tasks that an agent made for an end user who opted out or was deleted (decisions §14, "Tasks of people"),
 * in the transaction of that change.
 */
export function endTasksOf(tx: Db, subject: SubjectKey, ending: EndReason): Promise<void> {
  return endTasks(tx, eq(scheduledTasks.subject, subject), ending);
}

/** `endTasksOf` for all people of the open web, who are known only by their conversations. */
export function endTasksOfOpenWeb(tx: Db, ending: EndReason): Promise<void> {
  const ofWeb = subjectKey("conversation", `${ending.agent.slug}:web:`);
  return endTasks(tx, sql`starts_with(${scheduledTasks.subject}, ${ofWeb})`, ending);
}

/** `endTasksOf` for the tasks that fulfil a condition. */
export async function endTasks(
  tx: Db,
  whose: SQL | undefined,
  { agent, reason, by: { actor, request } }: EndReason,
): Promise<void> {
  const { id: agentId, slug: target, organizationId } = agent;
  const ended = await tx
    .delete(scheduledTasks)
    .where(and(eq(scheduledTasks.agentId, agentId), eq(scheduledTasks.source, "agent"), whose))
    .returning({ taskId: scheduledTasks.id });
  const action = "agent.task.delete";
  const [first, ...others] = ended.map(({ taskId }) => {
    return { action, target, agentId, organizationId, summary: { taskId, reason }, actor, request };
  });
  if (first) await audit(tx, first, ...others);
}
