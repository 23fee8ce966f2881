import type { Services } from "../../context.ts";
import type { Tool } from "../../turn/types.ts";
import { memoryTools } from "../memories/index.ts";
import { type LoadedSkill, skillPlaceholders, skillTools } from "../skills/index.ts";
import {
  currentTimeTool,
  httpRequestTool,
  loadPlugins,
  modelNames,
  Placeholders,
  pluginSecrets,
  pluginTools,
  toolSettings,
} from "../tools/index.ts";

interface Agent {
  id: string;
  organizationId: string;
  memoryEnabled: boolean;
  timezone: string;
}

interface AgentTools {
  /** By the names that models see. */
  tools: Map<string, Tool>;
  /** What they must not say. */
  secrets: string[];
}

/** The tools that are on for an agent with these skills. */
export async function loadTools(services: Services, agent: Agent, skills: readonly LoadedSkill[]): Promise<AgentTools> {
  const { id, organizationId, timezone } = agent;
  const { database, cipher, clock } = services;
  const settings = await toolSettings(database.db, id);
  const usesPlugins = [...settings.keys()].some((name) => name.includes(":"));
  const plugins = usesPlugins ? await loadPlugins(database.db, cipher, organizationId) : [];
  const hidden = skillPlaceholders(skills);
  const placeholders = new Placeholders(hidden);
  const all = [
    currentTimeTool(clock, timezone),
    httpRequestTool(services, placeholders),
    ...skillTools(skills, organizationId, services.scripts),
    ...memoryTools(services, agent),
    ...pluginTools(services, plugins),
  ];
  const required = new Set(skills.flatMap(({ requiredTools }) => requiredTools));
  const enabled = all.flatMap((tool) => {
    const setting = settings.get(tool.name);
    // What a skill turned on is on as long as the skill is served.
    const on = setting?.chosen || (setting?.bySkill && required.has(tool.name));
    return on ? [{ ...tool, needsApproval: setting.needsApproval }] : [];
  });
  const names = await modelNames(enabled.map(({ name }) => name));
  return {
    tools: new Map(enabled.map((tool) => [names.get(tool.name) ?? tool.name, tool])),
    secrets: [...hidden.map(({ value }) => value), ...plugins.flatMap(pluginSecrets)],
  };
}
