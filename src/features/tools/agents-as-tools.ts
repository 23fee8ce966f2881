import { and, asc, eq, ne } from "drizzle-orm";
import type { Ctx } from "../../context/ctx.ts";
import type { Db } from "../../db/client.ts";
import { agents } from "../../db/schema.ts";
import { type AgentRow, isAskable, withinReach } from "../agents/index.ts";
import type { ToolDefinition } from "./definition.ts";

/** The reachable agents that may be called, as tools of other agents, by slug. */
export function agentToolsWithin(ctx: Ctx): Promise<ToolDefinition[]> {
  return select(ctx.db, withinReach(ctx));
}

/** The agents that this one can call, as tools, by slug: those of its workspace that may be called. */
export function agentToolsOf(db: Db, { id, workspaceId }: Pick<AgentRow, "id" | "workspaceId">) {
  return select(db, and(eq(agents.workspaceId, workspaceId), ne(agents.id, id)));
}

async function select(db: Db, those: ReturnType<typeof and>): Promise<ToolDefinition[]> {
  const { slug, name, description } = agents;
  const rows = await db
    .select({ slug, name, description })
    .from(agents)
    .where(and(isAskable(db), those))
    .orderBy(asc(agents.slug));
  return rows.map(agentTool);
}

/** The tool that calls an agent, for catalogues and models. */
export function agentTool({
  slug,
  name,
  description,
}: Pick<AgentRow, "slug" | "name" | "description">): ToolDefinition {
  return {
    name: `agent:${slug}`,
    description: `Asks the agent ${name}${description === "" ? "" : `: ${description}`}`,
    category: "Agents",
    origin: "agent",
    requiredSecrets: [],
  };
}
