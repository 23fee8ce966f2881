import { and, count, eq, inArray } from "drizzle-orm";
import type { Services } from "../../../../context/ctx.ts";
import type { Plugin } from "../../../../core/plugins/plugin.ts";
import { pluginToolName } from "../../../../core/plugins/plugins.ts";
import type { Db } from "../../../../db/client.ts";
import { plugins } from "../../../../db/schema.ts";
import type { ToolDefinition } from "../../definition.ts";

/**
 * The families that an organization has. An MCP server that it had under the same namespace before the family came
 * stays what its agents mean, on or off.
 */
export async function familiesOf(
  db: Db,
  families: readonly Plugin[],
  organizationId: string,
): Promise<readonly Plugin[]> {
  if (families.length === 0) return [];
  const namespaces = families.map(({ namespace }) => namespace);
  const rows = await db
    .select({ namespace: plugins.namespace })
    .from(plugins)
    .where(and(eq(plugins.organizationId, organizationId), inArray(plugins.namespace, namespaces)));
  const taken = new Set(rows.map(({ namespace }) => namespace));
  return families.filter(({ namespace }) => !taken.has(namespace));
}

/** The tools of a family as catalogues show them. */
export function familyDefinitions({ namespace, title, secrets, tools }: Plugin): ToolDefinition[] {
  return tools.map(({ name, description }) => ({
    name: pluginToolName(namespace, name),
    description,
    category: title,
    origin: "plugin",
    requiredSecrets: secrets,
  }));
}

/** Tells the operator which families some organizations do not have, since MCP servers of theirs keep the namespace. */
export async function noteTaken({ database: { db }, plugins: families, log }: Services): Promise<void> {
  if (families.length === 0) return;
  const namespaces = families.map(({ namespace }) => namespace);
  const rows = await db
    .select({ namespace: plugins.namespace, organizations: count() })
    .from(plugins)
    .where(inArray(plugins.namespace, namespaces))
    .groupBy(plugins.namespace);
  for (const row of rows) log.warn(row, "A plugin is kept from organizations by MCP servers of its namespace");
}
