import type { Contribution } from "../../contribution.ts";
import { agentSkillRoutes } from "./agent/routes.ts";
import { catalogueRoutes } from "./catalogue/routes.ts";
import { envRoutes } from "./env/routes.ts";
import { importRoutes } from "./import/routes.ts";
import { allowRoutes } from "./workspace/routes.ts";

/** The routes of the catalogue, of workspaces' allowed skills, and of agents' enabled ones. */
export const skillsFeature: Contribution = {
  routes: [catalogueRoutes, allowRoutes, agentSkillRoutes, envRoutes, importRoutes],
};
/** The skills in a bundle, and their variables. */
export { exportSkillEnv, exportSkills } from "./bundle/export.ts";
export { importSkills } from "./bundle/import.ts";
export { importSkillEnv } from "./bundle/import-env.ts";
export { bundledSkillEnv, bundledSkills } from "./bundle/schema.ts";
/** A skill in the form of an import, and the slug of a name, for programs that read files. */
export { ImportedSkill } from "./import/schema.ts";
export { slugOf as skillSlugOf } from "./rules.ts";
/** The skills of an agent's turns, and all opened values. */
export { type LoadedSkill, type LoadedSkills, loadSkills } from "./turn/load.ts";
/** The parts of a turn that come from skills: a part of its prompt, two tools, and secret values. */
export { skillPlaceholders, skillsList, skillTools } from "./turn/tools.ts";
