import type { Plugin } from "../../core/plugins/plugin.ts";
import { pluginToolName } from "../../core/plugins/plugins.ts";
import { builtinNames } from "../tools/index.ts";

/**
 * Names tools in metrics. Only tools of the engine and of the server's plugins keep their names: tenants name the tools
 * of MCP servers and agents.
 */
export function toolLabels(plugins: readonly Plugin[]): (name: string) => string {
  const ours = plugins.flatMap(({ namespace, tools }) => tools.map((tool) => pluginToolName(namespace, tool.name)));
  const known = new Set([...builtinNames, ...ours]);
  return (name) => (known.has(name) ? name : kindOf(name));
}

function kindOf(name: string): string {
  if (name.startsWith("agent:")) return "agent";
  return name.includes(":") ? "plugin" : "other";
}
