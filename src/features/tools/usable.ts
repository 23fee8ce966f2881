import { and, eq, inArray, ne, sql } from "drizzle-orm";
import type { Db } from "../../db/client.ts";
import { agents, plugins } from "../../db/schema.ts";
import { builtinNames } from "./builtin.ts";

/** What tools were called before they became plugins; a migration renamed them, and no one may use them again. */
const prePlugin = /^(ghIssue|ghPR|gitCloneRepo|renderService|markdownToPdf|fileUpload|hubspot[A-Z]\w*)$/;
export const isPrePluginName = (name: string) => prePlugin.test(name);

/** Whose tools they are to be: anybody's of the organization, or one agent's. */
interface User {
  organizationId: string;
  agent?: { id: string; workspaceId: string };
}

/**
 * The names of these that an organization can't use: neither built in, nor an agent of its own (`agent:<slug>`), nor a
 * tool of a plugin that it has (`<namespace>:<tool>`). What a plugin offers whose server never answered is not known yet:
 * it may be anything in the long run, but nothing that one agent can use now. Nor can it use agents but the other active
 * ones of its workspace.
 */
export async function unusableTools(db: Db, user: User, names: readonly string[]): Promise<string[]> {
  const { organizationId } = user;
  const prefixed = names.filter((name) => !builtinNames.has(name) && name.includes(":"));
  const [slugs, plugged] = await Promise.all([
    agentSlugs(
      db,
      user,
      prefixed.flatMap((name) => (name.startsWith("agent:") ? [name.slice(6)] : [])),
    ),
    pluginTools(db, organizationId, [...new Set(prefixed.map(namespaceOf))]),
  ]);
  const usable = (name: string) => {
    if (builtinNames.has(name)) return true;
    if (isPrePluginName(name) || !name.includes(":")) return false;
    if (name.startsWith("agent:")) return slugs.has(name.slice(6));
    const listed = plugged.get(namespaceOf(name));
    return listed === null ? user.agent === undefined : (listed?.has(name) ?? false);
  };
  return names.filter((name) => !usable(name));
}

const namespaceOf = (name: string) => name.slice(0, name.indexOf(":"));

async function agentSlugs(db: Db, { organizationId, agent }: User, slugs: readonly string[]): Promise<Set<string>> {
  if (slugs.length === 0) return new Set();
  const others = agent && and(agents.active, eq(agents.workspaceId, agent.workspaceId), ne(agents.id, agent.id));
  const rows = await db
    .select({ slug: agents.slug })
    .from(agents)
    .where(and(eq(agents.organizationId, organizationId), inArray(agents.slug, [...slugs]), others));
  return new Set(rows.map(({ slug }) => slug));
}

/** The names that these plugins list, by namespace; null where no listing is known. */
async function pluginTools(
  db: Db,
  organizationId: string,
  namespaces: readonly string[],
): Promise<Map<string, Set<string> | null>> {
  if (namespaces.length === 0) return new Map();
  const rows = await db
    .select({
      namespace: plugins.namespace,
      status: plugins.status,
      // Without the schemas, which may be large.
      tools: sql<string[]>`jsonb_path_query_array(${plugins.tools}, '$[*].name')`,
    })
    .from(plugins)
    .where(
      and(
        eq(plugins.organizationId, organizationId),
        inArray(plugins.namespace, [...namespaces]),
        sql`${plugins.enabled}`,
      ),
    );
  return new Map(
    rows.map(({ namespace, status, tools }) => {
      const known = tools.length > 0 || status === "connected";
      return [namespace, known ? new Set(tools.map((tool) => `${namespace}:${tool}`)) : null];
    }),
  );
}
