/** What agents can do beside talking: the tools, who contributes them, and which an agent has. */

import type { Contribution } from "../../contribution.ts";
import { pluginRoutes } from "./plugins/routes.ts";
import { toolRoutes } from "./routes.ts";

export { type ToolSetting, toolSettings } from "./agent-tools.ts";
/** What is said of the tool that asks an agent. */
export { agentTool } from "./agents-as-tools.ts";
/** What the tools of skills and memories are called and take; those features give them something to do. */
export { readSkill, runSkillScript, saveMemory, searchMemory } from "./builtin.ts";
/** The tools of the engine that need nothing of other features. */
export { currentTimeTool } from "./current-time.ts";
/** Describes a tool once: for catalogues, for models, and for checking what a model sends. */
export { builtin } from "./definition.ts";
export { httpRequestTool } from "./http-request.ts";
/** The names that models see. */
export { modelNames } from "./names.ts";
/** Values that no model may see, filled in where a tool needs them. */
export { type Placeholder, Placeholders } from "./placeholders.ts";
/** The MCP servers of an organization, opened for a turn, and their tools. */
export { loadPlugins, type OpenPlugin } from "./plugins/store.ts";
export { pluginSecrets, pluginTools } from "./plugins/tools.ts";
export { stateTools } from "./state.ts";
/** Which names of these an organization can't use, and which nobody can any more. */
export { isPrePluginName, unusableTools } from "./usable.ts";

/** `/api/tools`, `/api/instances/{slug}/tools` and `/api/organizations/{orgSlug}/plugins`. */
export const toolsFeature: Contribution = { routes: [toolRoutes, pluginRoutes] };
