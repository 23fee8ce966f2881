import type { Services } from "../../../context/ctx.ts";
import type { ToolSource } from "../../../contribution.ts";
import type { ActingAgent } from "../../../core/activity/activity.ts";
import type { Embedder } from "../../../core/ports.ts";
import type { Tool } from "../../../turn/types.ts";
import { memoryTools } from "../../memories/index.ts";
import { type LoadedSkills, skillPlaceholders, skillTools } from "../../skills/index.ts";
import {
  currentTimeTool,
  familyTools,
  httpRequestTool,
  loadMcpPlugins,
  mcpSecrets,
  mcpTools,
  modelNames,
  Placeholders,
  stateTools,
  toolSettings,
} from "../../tools/index.ts";

interface Agent extends ActingAgent {
  memoryEnabled: boolean;
  timezone: string;
  secrets: ReadonlyMap<string, string>;
}

interface Parts {
  skills: LoadedSkills;
  hooks: readonly { toolName: string }[];
  /** The tools that features above this one add. */
  sources: readonly ToolSource[];
  embedder: () => Embedder | null;
}

interface AgentTools {
  /** The enabled tools, by their names for models. */
  tools: Map<string, Tool>;
  /** Finds a tool by its canonical name, enabled or not; null when the agent can't have the tool. */
  find: (name: string) => Tool | null;
  /** Secret values of skills and plugins, which no reply may contain. */
  secrets: string[];
}

/** Loads the enabled tools of an agent, and `find` for the tools that its hooks call. */
export async function loadTools(
  services: Services,
  agent: Agent,
  { skills, hooks, sources, embedder }: Parts,
): Promise<AgentTools> {
  const { id, slug, organizationId, workspaceId, timezone } = agent;
  const { database, clock } = services;
  const settings = await toolSettings(database.db, id);
  const named = [...settings.keys(), ...hooks.map(({ toolName }) => toolName)];
  const usesPlugins = named.some((name) => name.includes(":"));
  const servers = usesPlugins ? await loadMcpPlugins(services, organizationId, named) : [];
  const owner = { id, slug, organizationId, workspaceId, named };
  const contributed = await Promise.all(sources.map((source) => source(owner)));
  const hidden = skillPlaceholders(skills.env);
  // A value of a skill that is not in use is hidden too, but sent nowhere (decisions §6).
  const placeholders = new Placeholders(skillPlaceholders(skills.served.flatMap(({ env }) => env)));
  const all = [
    currentTimeTool(clock, timezone),
    httpRequestTool(services, organizationId, placeholders),
    ...skillTools(skills.served, organizationId, services.scripts),
    ...memoryTools(services, agent, embedder),
    ...stateTools,
    ...mcpTools(services, servers),
    ...(await familyTools(services, agent, new Set(named))),
    ...contributed.flat(),
  ];
  const required = new Set(skills.served.flatMap(({ requiredTools }) => requiredTools));
  const enabled = all.flatMap((tool) => {
    const setting = settings.get(tool.name);
    // A tool that a skill enabled stays enabled while the agent has the skill.
    const on = setting?.chosen || (setting?.bySkill && required.has(tool.name));
    return on ? [{ ...tool, needsApproval: setting.needsApproval }] : [];
  });
  const names = await modelNames(enabled.map(({ name }) => name));
  return {
    tools: new Map(enabled.map((tool) => [names.get(tool.name) ?? tool.name, tool])),
    find: (name) => all.find((tool) => tool.name === name) ?? null,
    secrets: [...hidden.map(({ value }) => value), ...servers.flatMap(mcpSecrets)],
  };
}
