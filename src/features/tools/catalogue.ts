import { and, asc, eq } from "drizzle-orm";
import type { Ctx, Services } from "../../context/ctx.ts";
import type { Db } from "../../db/client.ts";
import { plugins } from "../../db/schema.ts";
import { agentToolsWithin } from "./agents-as-tools.ts";
import { builtins } from "./builtin.ts";
import type { ToolDefinition } from "./definition.ts";
import { familiesOf, familyDefinitions } from "./plugins/families/of-organization.ts";
import { describedTools } from "./plugins/mcp/listed.ts";
import { isOffered } from "./plugins/mcp/offered.ts";

/** The installation's offer to every organization: plugins, and whether MCP servers may be processes. */
export type ToolOffer = Pick<Services, "plugins" | "options">;

/**
 * The tools available to every agent of an organization: the engine's own, those of plugins, then those of MCP servers
 * by namespace.
 */
export async function listTools(
  db: Db,
  { plugins: families, options }: ToolOffer,
  organizationId: string,
): Promise<ToolDefinition[]> {
  const rows = await db
    .select({ namespace: plugins.namespace, tools: describedTools })
    .from(plugins)
    .where(and(eq(plugins.organizationId, organizationId), isOffered(options)))
    .orderBy(asc(plugins.namespace));
  const fromFamilies = (await familiesOf(db, families, organizationId)).flatMap(familyDefinitions);
  const fromServers = rows.flatMap(({ namespace, tools }) =>
    tools.map(
      ({ name, description }): ToolDefinition => ({
        name: `${namespace}:${name}`,
        description,
        category: namespace,
        origin: "mcp",
        requiredSecrets: [],
      }),
    ),
  );
  return [...builtins.map(shown), ...fromFamilies, ...fromServers];
}

/** The organization's tools, then the agents that the caller reaches. */
export async function toolCatalogue(ctx: Ctx): Promise<ToolDefinition[]> {
  return [...(await listTools(ctx.db, ctx, ctx.membership.organizationId)), ...(await agentToolsWithin(ctx))];
}

function shown({ name, description, category, origin, requiredSecrets }: ToolDefinition): ToolDefinition {
  return { name, description, category, origin, requiredSecrets };
}
