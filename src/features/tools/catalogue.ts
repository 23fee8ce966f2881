import { and, asc, eq } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import type { Db } from "../../db/client.ts";
import { plugins } from "../../db/schema.ts";
import { agentToolsWithin } from "./agents-as-tools.ts";
import { builtins } from "./builtin.ts";
import type { ToolDefinition } from "./definition.ts";
import { isOffered, type StdioOption } from "./plugins/offered.ts";

/** A tool as an MCP server lists it. */
export interface ListedTool {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
}

/** The tools that every agent of an organization can have: the engine's own, then those of plugins by namespace. */
export async function listTools(db: Db, options: StdioOption, organizationId: string): Promise<ToolDefinition[]> {
  const rows = await db
    .select({ namespace: plugins.namespace, tools: plugins.tools })
    .from(plugins)
    .where(and(eq(plugins.organizationId, organizationId), isOffered(options)))
    .orderBy(asc(plugins.namespace));
  const fromPlugins = rows.flatMap(({ namespace, tools }) =>
    (tools as ListedTool[]).map(
      ({ name, description }): ToolDefinition => ({
        name: `${namespace}:${name}`,
        description,
        category: namespace,
        origin: "mcp",
        requiredSecrets: [],
      }),
    ),
  );
  return [...builtins.map(shown), ...fromPlugins];
}

/** The tools of the organization, then the agents within the caller's reach. */
export async function toolCatalogue(ctx: Ctx): Promise<ToolDefinition[]> {
  return [...(await listTools(ctx.db, ctx.options, ctx.membership.organizationId)), ...(await agentToolsWithin(ctx))];
}

function shown({ name, description, category, origin, requiredSecrets }: ToolDefinition): ToolDefinition {
  return { name, description, category, origin, requiredSecrets };
}
