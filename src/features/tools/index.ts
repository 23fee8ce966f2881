/** The tools that agents can have, and which an agent has. */

import type { Services } from "../../context/ctx.ts";
import type { Contribution } from "../../contribution.ts";
import { noteTaken } from "./plugins/families/of-organization.ts";
import { pluginRoutes } from "./plugins/mcp/routes.ts";
import { noteTransports } from "./plugins/mcp/store.ts";
import { toolRoutes } from "./routes.ts";

export { toolSettings } from "./agent-tools.ts";
/** The tool that asks an agent, as catalogues and models see it. */
export { agentTool } from "./agents-as-tools.ts";
/** The engine's own tools: those of other features, which add the functions that do the work, and those that need no other feature. */
export {
  builtinNames,
  currentTimeTool,
  localTime,
  readSkill,
  runSkillScript,
  saveMemory,
  scheduleTask,
  searchMemory,
  stateTools,
} from "./builtin.ts";
/** The tools that a bundle holds. */
export { exportTools, importTools } from "./bundle.ts";
/** The tools that the installation offers every organization. */
export type { ToolOffer } from "./catalogue.ts";
/** Describes a tool for catalogues and models, and checks what a model sends. */
export { builtin } from "./definition.ts";
export { httpRequestTool } from "./http-request.ts";
/** The names of tools that models see. */
export { modelNames } from "./names.ts";
/** Values that no model may see, filled in where a tool needs them. */
export { type FillingRoom, fillingRoom, type Placeholder, Placeholders } from "./placeholders.ts";
/** The families of tools that an organization has, as turns call them. */
export { familyTools } from "./plugins/families/tools.ts";
/** The MCP servers of an organization, opened for a turn, and their tools. */
export { loadMcpPlugins } from "./plugins/mcp/store.ts";
export { mcpSecrets, mcpTools } from "./plugins/mcp/tools.ts";
/** The tools of a bundle, as a schema. */
export { bundledTools } from "./schema.ts";
/** The names that an organization can't use, those that nobody can use any more, and what took their place. */
export { isPrePluginName, successorsOf, unusableTools } from "./usable.ts";

/** `/api/tools`, `/api/instances/{slug}/tools` and `/api/organizations/{orgSlug}/plugins`. */
export const toolsFeature = (services: Services): Contribution => ({
  routes: [toolRoutes, pluginRoutes],
  async boot() {
    await noteTransports(services);
    await noteTaken(services);
  },
});
