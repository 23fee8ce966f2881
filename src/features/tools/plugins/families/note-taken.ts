import { count, inArray } from "drizzle-orm";
import type { Services } from "../../../../context/ctx.ts";
import { plugins } from "../../../../db/schema.ts";

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
