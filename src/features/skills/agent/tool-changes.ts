import { and, eq, ne } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import type { Db } from "../../../db/client.ts";
import { agentTools } from "../../../db/schema.ts";
import { syncSkillTools } from "../../agents/index.ts";

export interface ToolsChanged {
  enabled: string[];
  disabled: string[];
}

/** Runs `change`, updates the tools that the agent has from skills, and answers which tools it gained and lost. */
export async function withSkillTools(
  tx: Db,
  services: Pick<Services, "plugins">,
  agentId: string,
  change: () => Promise<void>,
): Promise<ToolsChanged> {
  const before = await toolNames(tx, agentId);
  await change();
  await syncSkillTools(tx, services, [agentId]);
  const after = await toolNames(tx, agentId);
  return {
    enabled: [...after].filter((name) => !before.has(name)),
    disabled: [...before].filter((name) => !after.has(name)),
  };
}

async function toolNames(tx: Db, agentId: string): Promise<Set<string>> {
  const rows = await tx
    .selectDistinct({ name: agentTools.name })
    .from(agentTools)
    // A row of source `global` only remembers a setting: the tool is off.
    .where(and(eq(agentTools.agentId, agentId), ne(agentTools.source, "global")))
    .orderBy(agentTools.name);
  return new Set(rows.map(({ name }) => name));
}
