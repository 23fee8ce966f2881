import { and, eq, inArray, sql } from "drizzle-orm";
import type { Db } from "../../db/client.ts";
import { agents, plugins } from "../../db/schema.ts";
import { builtinNames } from "./builtin.ts";

/** What tools were called before they became plugins; a migration renamed them, and no one may use them again. */
const prePlugin = /^(ghIssue|ghPR|gitCloneRepo|renderService|markdownToPdf|fileUpload|hubspot[A-Z]\w*)$/;

/**
 * The names of these that an organization can't use: neither built in, nor an agent of its own (`agent:<slug>`), nor in
 * the namespace of a plugin that it has (`<namespace>:<tool>`).
 */
export async function unusableTools(db: Db, organizationId: string, names: readonly string[]): Promise<string[]> {
  const prefixed = names.filter((name) => !builtinNames.has(name) && name.includes(":"));
  const [slugs, namespaces] = await Promise.all([
    agentSlugs(
      db,
      organizationId,
      prefixed.flatMap((name) => (name.startsWith("agent:") ? [name.slice(6)] : [])),
    ),
    pluginNamespaces(db, organizationId, [...new Set(prefixed.map(namespaceOf))]),
  ]);
  const usable = (name: string) => {
    if (builtinNames.has(name)) return true;
    if (prePlugin.test(name) || !name.includes(":")) return false;
    return name.startsWith("agent:") ? slugs.has(name.slice(6)) : namespaces.has(namespaceOf(name));
  };
  return names.filter((name) => !usable(name));
}

const namespaceOf = (name: string) => name.slice(0, name.indexOf(":"));

async function agentSlugs(db: Db, organizationId: string, slugs: readonly string[]): Promise<Set<string>> {
  if (slugs.length === 0) return new Set();
  const rows = await db
    .select({ slug: agents.slug })
    .from(agents)
    .where(and(eq(agents.organizationId, organizationId), inArray(agents.slug, [...slugs])));
  return new Set(rows.map(({ slug }) => slug));
}

async function pluginNamespaces(db: Db, organizationId: string, namespaces: readonly string[]): Promise<Set<string>> {
  if (namespaces.length === 0) return new Set();
  const rows = await db
    .select({ namespace: plugins.namespace })
    .from(plugins)
    .where(
      and(
        eq(plugins.organizationId, organizationId),
        inArray(plugins.namespace, [...namespaces]),
        sql`${plugins.enabled}`,
      ),
    );
  return new Set(rows.map(({ namespace }) => namespace));
}
