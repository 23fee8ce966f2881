import type { Contribution } from "../../contribution.ts";
import { agentSkillRoutes } from "./agent/routes.ts";
import { catalogueRoutes } from "./catalogue/routes.ts";
import { envRoutes } from "./env/routes.ts";
import { importRoutes } from "./import/routes.ts";
import { allowRoutes } from "./workspace/routes.ts";

/** The routes of the catalogue, of the skills that workspaces allow, and of those that agents enable. */
export const skillsFeature: Contribution = {
  routes: [catalogueRoutes, allowRoutes, agentSkillRoutes, envRoutes, importRoutes],
};
/** The skills that a bundle holds, and their variables. */
export { exportSkillEnv, exportSkills } from "./bundle/export.ts";
export { importSkills } from "./bundle/import.ts";
export { importSkillEnv } from "./bundle/import-env.ts";
export { bundledSkillEnv, bundledSkills } from "./bundle/schema.ts";
/** A skill as an import takes it, and the slug of a name, for programs that read files. */
export { ImportedSkill } from "./import/schema.ts";
export { slugOf as skillSlugOf } from "./rules.ts";
/** The skills that a turn of an agent serves, and the values of all, opened. */
export { type LoadedSkill, type LoadedSkills, loadSkills } from "./turn/load.ts";
/** The parts of a turn that come from skills: a part of its prompt, two tools, and secret values. */
export { skillPlaceholders, skillsList, skillTools } from "./turn/tools.ts";
