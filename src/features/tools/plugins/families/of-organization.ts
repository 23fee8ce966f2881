import { and, count, eq, inArray, not } from "drizzle-orm";
import type { Services } from "../../../../context/ctx.ts";
import type { Plugin } from "../../../../core/plugins/plugin.ts";
import { pluginToolName } from "../../../../core/plugins/plugins.ts";
import type { Db } from "../../../../db/client.ts";
import { pluginPackages, plugins } from "../../../../db/schema.ts";
import type { ToolDefinition } from "../../definition.ts";

/**
 * The plugins available to an organization, without those whose package it has turned off. If an older MCP server of the
 * organization has a plugin's namespace, its agents use the server, on or off, and not the plugin.
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
    .where(and(eq(plugins.organizationId, organizationId), inArray(plugins.namespace, namespaces)))
    .union(turnedOff(db, organizationId));
  const missing = new Set(rows.map(({ namespace }) => namespace));
  return families.filter(({ namespace }) => !missing.has(namespace));
}

/** The namespaces of the packages that an organization has turned off (managed M14). */
export const turnedOff = (db: Db, organizationId: string) =>
  db
    .select({ namespace: pluginPackages.namespace })
    .from(pluginPackages)
    .where(and(eq(pluginPackages.organizationId, organizationId), not(pluginPackages.enabled)));

/** The tools of a plugin, as catalogues list them. */
export function familyDefinitions({ namespace, title, secrets, tools }: Plugin): ToolDefinition[] {
  return tools.map(({ name, description }) => ({
    name: pluginToolName(namespace, name),
    description,
    category: title,
    origin: "plugin",
    requiredSecrets: secrets,
  }));
}

/** Logs which plugins some organizations don't get, since their MCP servers have the namespace. */
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
