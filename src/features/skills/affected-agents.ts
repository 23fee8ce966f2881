import { type AnyColumn, and, eq, sql } from "drizzle-orm";
import { writeArray } from "../../db/arrays.ts";
import type { Db } from "../../db/client.ts";
import { agentSkills, agents, skillEnv } from "../../db/schema.ts";
import { lockAgents } from "../agents/index.ts";

/** The agents of one workspace, or of all, that have the skill enabled. Locked until the transaction ends. */
export function agentsWith(tx: Db, skillId: string, workspaceId?: string) {
  return lockAgents(
    tx,
    and(
      sql`${agents.id} in (select ${agentSkills.agentId} from ${agentSkills}
        where ${agentSkills.skillId} = ${skillId} and ${agentSkills.enabled})`,
      workspaceId === undefined ? undefined : eq(agents.workspaceId, workspaceId),
    ),
  );
}

/** The agents that have one of the skills enabled, or store values for it. Locked until the transaction ends. */
export function agentsKnowing(tx: Db, skillIds: readonly string[]) {
  const isOneOf = (column: AnyColumn) => sql`${column} = any(${writeArray(skillIds)}::uuid[])`;
  return lockAgents(
    tx,
    sql`${agents.id} in (select ${agentSkills.agentId} from ${agentSkills}
      where ${isOneOf(agentSkills.skillId)} and ${agentSkills.enabled}
      union all select ${skillEnv.agentId} from ${skillEnv} where ${isOneOf(skillEnv.skillId)})`,
  );
}
