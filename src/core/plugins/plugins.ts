import type { Plugin, PluginSecret } from "./plugin.ts";

/** The canonical name of a plugin's tool. */
export const pluginToolName = (namespace: string, tool: string) => `${namespace}:${tool}`;

/** The canonical names of the tools that need approval by default. */
export function askingTools(plugins: readonly Plugin[]): string[] {
  return plugins.flatMap(({ namespace, tools }) =>
    tools.flatMap(({ name, needsApproval }) => (needsApproval ? [pluginToolName(namespace, name)] : [])),
  );
}

/**
 * The agent secrets that plugins declare, by key. If several plugins declare a key, the first one describes it, and it
 * is sensitive if any of them says so.
 */
export function declaredSecrets(plugins: readonly Plugin[]): ReadonlyMap<string, PluginSecret> {
  const declared = new Map<string, PluginSecret>();
  for (const secret of plugins.flatMap(({ secrets }) => secrets)) {
    const known = declared.get(secret.key) ?? secret;
    declared.set(secret.key, { ...known, sensitive: known.sensitive || secret.sensitive });
  }
  return declared;
}
