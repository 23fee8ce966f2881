import type { Services } from "../../../../context/ctx.ts";
import type { McpServer } from "../../../../core/ports.ts";
import type { JsonObject, Tool } from "../../../../turn/types.ts";
import { argumentCheck } from "../arguments.ts";
import type { ListedTool } from "./listed.ts";
import { requireAllowed } from "./offered.ts";
import { transportSecrets } from "./rules.ts";
import type { OpenPlugin } from "./store.ts";

/** The tools of these plugins, as turns call them. The first call of a tool connects to its server. */
export function mcpTools(services: Services, plugins: readonly OpenPlugin[]): Tool[] {
  return plugins.flatMap((plugin) => plugin.tools.map((tool) => mcpTool(services, plugin, tool)));
}

/** The secrets in a plugin's configuration, to be scrubbed from all texts of its tools and their turns. */
export function mcpSecrets({ transport }: Pick<OpenPlugin, "transport">): string[] {
  return transportSecrets(transport);
}

/** A plugin's server for the MCP port, with the current policies. Throws 400 for a process that may not be started. */
export function serverOf({ options, policies }: Services, plugin: Omit<OpenPlugin, "tools">): McpServer {
  const { organizationId, namespace, version, transport } = plugin;
  requireAllowed(transport, options);
  return {
    id: serverId(organizationId, namespace),
    version,
    owner: organizationId,
    name: namespace,
    transport,
    secrets: transportSecrets(transport),
    allowedHosts: policies.values.httpAllowedHosts,
  };
}

export const serverId = (organizationId: string, namespace: string) => `${organizationId}:${namespace}`;

function mcpTool(services: Services, plugin: OpenPlugin, tool: ListedTool): Tool {
  return {
    name: `${plugin.namespace}:${tool.name}`,
    description: tool.description,
    inputSchema: tool.inputSchema as JsonObject,
    // `external` even if the server says that the tool only reads: that claim is not trusted.
    effect: "external",
    // The server may need a secret that the model knows.
    seesSecrets: true,
    needsApproval: false,
    validate: argumentCheck(tool.inputSchema),
    execute: async (args, { signal }) => services.mcp.call(serverOf(services, plugin), tool, args, signal),
  };
}
