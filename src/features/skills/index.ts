import type { Contribution } from "../../contribution.ts";
import { agentSkillRoutes } from "./agent/routes.ts";
import { catalogueRoutes } from "./catalogue/routes.ts";
import { envRoutes } from "./env/routes.ts";
import { importRoutes } from "./import/routes.ts";
import { allowRoutes } from "./workspace/routes.ts";

/** The catalogue, the allow-lists of workspaces, and what agents make of both. */
export const skillsFeature: Contribution = {
  routes: [catalogueRoutes, allowRoutes, agentSkillRoutes, envRoutes, importRoutes],
};
/** The skills that a turn of an agent serves, opened. */
export { type LoadedEnv, type LoadedSkill, loadSkills } from "./turn/load.ts";
/** What skills are to a turn: a part of its prompt, two tools, and values that no model may see. */
export { skillPlaceholders, skillsList, skillTools } from "./turn/tools.ts";
