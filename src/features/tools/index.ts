/** The available tools, and each agent's tools. */

import type { Services } from "../../context/ctx.ts";
import type { Contribution } from "../../contribution.ts";
import { noteTaken } from "./plugins/families/of-organization.ts";
import { pluginRoutes } from "./plugins/mcp/routes.ts";
import { noteTransports } from "./plugins/mcp/store.ts";
import { packageRoutes } from "./plugins/packages/routes.ts";
import { toolRoutes } from "./routes.ts";

export { toolSettings } from "./agent-tools.ts";
/** The tool that calls an agent, for catalogues and models. */
export { agentTool } from "./agents-as-tools.ts";
/** The engine's own tools, both those that other features execute and those that need no other feature. */
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
/** The tools in a bundle. */
export { exportTools, importTools } from "./bundle.ts";
/** The tools that the installation offers to every organization. */
export type { ToolOffer } from "./catalogue.ts";
/** Describes a tool for catalogues and models, and checks a model's arguments. */
export { builtin } from "./definition.ts";
export { httpRequestTool } from "./http-request.ts";
/** The tools' names for models. */
export { modelNames } from "./names.ts";
/** Values hidden from models, filled in when a tool needs them. */
export { type FillingRoom, fillingRoom, type Placeholder, Placeholders } from "./placeholders.ts";
/** The tools of an organization's plugins, as turns call them. */
export { familyTools } from "./plugins/families/tools.ts";
/** The MCP servers of an organization, opened for a turn, and their tools. */
export { loadMcpPlugins } from "./plugins/mcp/store.ts";
export { mcpSecrets, mcpTools } from "./plugins/mcp/tools.ts";
/** The tools in a bundle, as a schema. */
export { bundledTools } from "./schema.ts";
/** The names that an organization can't use; names from before plugins, and what replaced them. */
export { isPrePluginName, successorsOf, unusableTools } from "./usable.ts";

/** `/api/tools`, `/api/instances/{slug}/tools`, and `plugins` and `plugin-packages` of `/api/organizations/{orgSlug}`. */
export const toolsFeature = (services: Services): Contribution => ({
  routes: [toolRoutes, pluginRoutes, packageRoutes],
  async boot() {
    await noteTransports(services);
    await noteTaken(services);
  },
});
