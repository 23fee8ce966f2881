import { z } from "@hono/zod-openapi";
import { zText } from "../../../core/text/text.ts";
import { slugParam } from "../../agents/index.ts";
import { RequiredEnv, VersionNumber } from "../schema.ts";

export const AgentSkill = z
  .object({
    name: z.string().openapi({ description: "The slug.", example: "refunds" }),
    displayName: z.string().openapi({ description: "The skill's name in the catalogue.", example: "Refunds" }),
    description: z.string().openapi({ example: "How to answer on refunds." }),
    category: z.string().openapi({ example: "general" }),
    requiredEnv: z.array(RequiredEnv),
    requiredTools: z.array(z.string()).openapi({ example: ["httpRequest"] }),
    enabled: z.boolean(),
    allowed: z.boolean().openapi({ description: "By the workspace. One that is not is never served, enabled or not." }),
    autoLoad: z.boolean().openapi({ description: "Whether the whole content stands in the prompt of each turn." }),
    envConfigured: z.boolean().openapi({ description: "Whether every variable it requires has a value." }),
    pinnedVersion: VersionNumber.nullable().openapi({ description: "What the agent uses; null unless enabled." }),
    currentVersion: VersionNumber,
    hasUpdate: z.boolean().openapi({ description: "Whether an upgrade would change the version." }),
    missingEnv: z.array(z.string()).openapi({ example: [] }),
    missingTools: z
      .array(z.string())
      .openapi({ description: "Tools it requires that the agent can't have now.", example: [] }),
  })
  .openapi("AgentSkill");
export type AgentSkill = z.infer<typeof AgentSkill>;

export const AgentSkills = z.object({ skills: z.array(AgentSkill) }).openapi("AgentSkills");

const toolNames = z.array(z.string()).openapi({ example: ["httpRequest"] });

export const AgentSkillsChanged = z
  .object({
    skills: z.array(AgentSkill),
    toolsChanged: z
      .object({ enabled: toolNames, disabled: toolNames })
      .openapi({ description: "Tools that the agent gained and lost by it." }),
  })
  .openapi("AgentSkillsChanged");
export type AgentSkillsChanged = z.infer<typeof AgentSkillsChanged>;

export const EnabledSkills = z
  .object({
    enabled: z
      .array(zText(512))
      .max(500, "must have at most 500 entries")
      .openapi({ description: "The complete set, by slug or name.", example: ["refunds"] }),
  })
  .openapi("EnabledSkills");

export const Upgraded = z.object({ upgraded: z.literal(true), skill: AgentSkill }).openapi("SkillUpgraded");
export const RolledBack = z.object({ rolledBack: z.literal(true), skill: AgentSkill }).openapi("SkillRolledBack");

export const Rollback = z
  .object({
    versionId: zText(128)
      .optional()
      .openapi({ description: "Id or number of a version. Absent: the one pinned before.", example: "0.1.0" }),
  })
  .openapi("SkillRollback");

export const AutoLoad = z
  .object({ autoLoad: z.boolean().optional().openapi({ description: "Absent: the other way round." }) })
  .openapi("SkillAutoLoad");
export const AutoLoadAnswer = z.object({ autoLoad: z.boolean() }).openapi("SkillAutoLoadAnswer");

export const agentSkillPath = slugParam.extend({
  skillSlug: z.string().openapi({ description: "Slug of the skill.", example: "refunds" }),
});
