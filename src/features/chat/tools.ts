import type { Services } from "../../context.ts";
import type { Tool } from "../../turn/types.ts";
import { type LoadedSkill, skillPlaceholders, skillTools } from "../skills/index.ts";
import { currentTimeTool, httpRequestTool, modelNames, Placeholders, toolSettings } from "../tools/index.ts";

/** The tools that are on for an agent, by the names that models see. */
export async function loadTools(
  services: Services,
  { id, timezone }: { id: string; timezone: string },
  skills: readonly LoadedSkill[],
): Promise<Map<string, Tool>> {
  const settings = await toolSettings(services.database.db, id);
  const all = [
    currentTimeTool(services.clock, timezone),
    httpRequestTool(services, new Placeholders(skillPlaceholders(skills))),
    ...skillTools(skills, services.scripts),
  ];
  const required = new Set(skills.flatMap(({ requiredTools }) => requiredTools));
  const enabled = all.flatMap((tool) => {
    const setting = settings.get(tool.name);
    // What a skill turned on is on as long as the skill is served.
    const on = setting?.chosen || (setting?.bySkill && required.has(tool.name));
    return on ? [{ ...tool, needsApproval: setting.needsApproval }] : [];
  });
  const names = await modelNames(enabled.map(({ name }) => name));
  return new Map(enabled.map((tool) => [names.get(tool.name) ?? tool.name, tool]));
}
