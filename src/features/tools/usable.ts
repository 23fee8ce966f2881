import { and, eq, inArray, ne, sql } from "drizzle-orm";
import { pluginToolName } from "../../core/plugins/plugins.ts";
import type { Db } from "../../db/client.ts";
import { agents, plugins } from "../../db/schema.ts";
import { isAskable } from "../agents/index.ts";
import { builtinNames } from "./builtin.ts";
import type { ToolOffer } from "./catalogue.ts";
import { familiesOf } from "./plugins/families/of-organization.ts";
import { isOffered } from "./plugins/mcp/offered.ts";

/** Whether the name is older than plugins. A migration renamed such tools, and the old names can't be used any more. */
export const isPrePluginName = (name: string) => successorsOf(name) !== null;

/** An organization, or one of its agents. */
interface ToolUser {
  organizationId: string;
  agent?: { id: string; workspaceId: string };
}

/**
 * Returns the names that the organization or the agent can't use. Usable are built-in tools, agents (`agent:<slug>`),
 * and tools of a plugin or of an enabled MCP server (`<namespace>:<tool>`) that the installation may use. A server that
 * has never responded has unknown tools: an organization can use any name of it, an agent none. An agent can use only
 * other callable agents of its workspace.
 */
export async function unusableTools(
  db: Db,
  offer: ToolOffer,
  user: ToolUser,
  names: readonly string[],
): Promise<string[]> {
  const { organizationId } = user;
  const prefixed = names.filter((name) => !builtinNames.has(name) && name.includes(":"));
  const [slugs, plugged] = await Promise.all([
    agentSlugs(
      db,
      user,
      prefixed.flatMap((name) => (name.startsWith("agent:") ? [name.slice(6)] : [])),
    ),
    pluginTools(db, offer, organizationId, [...new Set(prefixed.map(namespaceOf))]),
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

const toolSet = (namespace: string, tools: readonly string[]) =>
  new Set(tools.map((tool) => pluginToolName(namespace, tool)));

const namespaceOf = (name: string) => name.slice(0, name.indexOf(":"));

async function agentSlugs(db: Db, { organizationId, agent }: ToolUser, slugs: readonly string[]): Promise<Set<string>> {
  if (slugs.length === 0) return new Set();
  const others = agent && and(isAskable(db), eq(agents.workspaceId, agent.workspaceId), ne(agents.id, agent.id));
  const rows = await db
    .select({ slug: agents.slug })
    .from(agents)
    .where(and(eq(agents.organizationId, organizationId), inArray(agents.slug, [...slugs]), others));
  return new Set(rows.map(({ slug }) => slug));
}

/** The tools of these namespaces; null for a server whose tools were never listed. */
async function pluginTools(
  db: Db,
  { plugins: families, options }: ToolOffer,
  organizationId: string,
  namespaces: readonly string[],
): Promise<Map<string, Set<string> | null>> {
  if (namespaces.length === 0) return new Map();
  const named = families.filter(({ namespace }) => namespaces.includes(namespace));
  const own = await familiesOf(db, named, organizationId);
  const rows = await db
    .select({
      namespace: plugins.namespace,
      status: plugins.status,
      // Only names, since schemas may be large.
      tools: sql<string[]>`jsonb_path_query_array(${plugins.tools}, '$[*].name')`,
    })
    .from(plugins)
    .where(
      and(eq(plugins.organizationId, organizationId), inArray(plugins.namespace, [...namespaces]), isOffered(options)),
    );
  const listed = rows.map(({ namespace, status, tools }): [string, Set<string> | null] => {
    const known = tools.length > 0 || status === "connected";
    return [namespace, known ? toolSet(namespace, tools) : null];
  });
  return new Map([
    ...listed,
    ...own.map(({ namespace, tools }): [string, Set<string>] => [
      namespace,
      toolSet(
        namespace,
        tools.map(({ name }) => name),
      ),
    ]),
  ]);
}

/** The tools that replaced those from before plugins (migration 0025). */
const successors: Readonly<Record<string, readonly [string, ...string[]]>> = {
  ghIssue: [
    "github:listIssues",
    "github:getIssue",
    "github:createIssue",
    "github:updateIssue",
    "github:commentOnIssue",
  ],
  ghPR: ["github:listPullRequests", "github:getPullRequest", "github:createPullRequest"],
  gitCloneRepo: ["github:listFiles", "github:getFile"],
  renderService: [
    "render:listServices",
    "render:getService",
    "render:listDeploys",
    "render:getDeploy",
    "render:createDeploy",
  ],
  markdownToPdf: ["markdown-pdf:create"],
  fileUpload: ["files:upload"],
};

/**
 * The tools that replaced a tool from before plugins, whose name can't be used any more; null for another name. The
 * first one counts where only one is possible.
 */
export function successorsOf(name: string): readonly [string, ...string[]] | null {
  const [, first, rest] = /^hubspot([A-Z])(\w*)$/.exec(name) ?? [];
  if (first !== undefined) return [`hubspot:${first.toLowerCase()}${rest}`];
  return Object.hasOwn(successors, name) ? (successors[name] ?? null) : null;
}
