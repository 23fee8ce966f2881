import { z } from "@hono/zod-openapi";
import { importWarningTypes } from "../../core/bundle.ts";
import { Timestamp } from "../../http/shapes.ts";
import { bundledAgent } from "../agents/index.ts";
import { bundledChannels } from "../channels/index.ts";
import { bundledHooks } from "../hooks/index.ts";
import { bundledPrompts } from "../prompts/index.ts";
import { bundledRoom, bundledSources } from "../room/index.ts";
import { bundledSkillEnv, bundledSkills } from "../skills/index.ts";
import { bundledTasks } from "../tasks/index.ts";
import { bundledTools } from "../tools/index.ts";

/** The format that this server writes (spec "Versioning" 5). */
export const writtenVersion = "1.3";

/** The largest body in bytes: a whole agent without its icon is some thousand times smaller. */
export const importLimit = 8 * 1024 * 1024;

const bundledSecrets = z
  .array(
    z.object({
      key: z.string().max(64).openapi({ example: "auth_api_key" }),
      configured: z.boolean().default(true).openapi({ description: "Whether the exported agent has a value." }),
    }),
  )
  .max(1024, "must have at most 1024 entries");

/** An agent's whole configuration; omitted parts have their defaults. */
export const BundledInstance = z
  .object({
    ...bundledAgent,
    prompts: bundledPrompts
      .default([])
      .openapi({ description: "The sections that were written; the others are the engine's own." }),
    skills: bundledSkills.default([]).openapi({ description: "By slug. Their texts are in the catalogue." }),
    ...bundledTools,
    secrets: bundledSecrets.default([]).openapi({ description: "Which secrets there are; never a value." }),
    channels: bundledChannels.default([]).openapi({ description: "Without credentials." }),
    skillEnv: bundledSkillEnv
      .default([])
      .openapi({ description: "Variables of skills, with the values of those that are not sensitive." }),
    hooks: bundledHooks.default([]).openapi({ description: "In the order in which they run." }),
    room: bundledRoom.default(null).openapi({ description: "Null: none." }),
    eventSources: bundledSources
      .default([])
      .openapi({ description: "By name, without addresses and keys. An import makes a new address for a new name." }),
    scheduledTasks: bundledTasks
      .default([])
      .openapi({ description: "By name. Those that the agent made by its tool are not among them." }),
  })
  .openapi("BundledInstance");

/** An agent as a file (decisions §4, "Export"). */
export const Bundle = z
  .object({
    version: z.literal(writtenVersion).openapi({ description: "Of the format. Imports also take 1.0 to 1.5." }),
    exportedAt: Timestamp.optional(),
    type: z.literal("instance"),
    instance: BundledInstance,
  })
  .openapi("AgentBundle", {
    example: {
      version: writtenVersion,
      type: "instance",
      instance: { slug: "support", name: "Support", provider: "demo", model: "demo" },
    },
  });
export type Bundle = z.output<typeof Bundle>;
export type BundledInstance = Bundle["instance"];

const Warning = z
  .object({
    type: z.enum(importWarningTypes).openapi({ example: "secret_missing" }),
    message: z.string().openapi({ example: "The agent has no secret openai_api_key: set it" }),
    path: z.string().openapi({ description: "Where in the bundle.", example: "instance.secrets.0" }),
  })
  .openapi("ImportWarning");

export const Imported = z
  .object({
    slug: z.string().openapi({ description: "The agent's slug.", example: "support-imported" }),
    instanceId: z
      .string()
      .openapi({ description: "The slug, by its name in other answers.", example: "support-imported" }),
    warnings: z
      .array(Warning)
      .openapi({ description: "What was done otherwise than the bundle says, and what is left to do." }),
  })
  .openapi("ImportedAgent");
export type Imported = z.infer<typeof Imported>;

export const ImportQuery = z.object({
  workspaceId: z
    .uuid("must be the id of a workspace")
    .optional()
    .openapi({ description: "Where the agent is made. Left out: in the first workspace that the caller reaches." }),
});
