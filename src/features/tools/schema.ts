import { z } from "@hono/zod-openapi";
import { zText } from "../../core/text/text.ts";

const toolName = zText(200).min(1, "must not be empty");
const name = z.string().openapi({
  description: "Built in: one word. Of a plugin: `<namespace>:<tool>`. An agent: `agent:<slug>`.",
  example: "httpRequest",
});

const requiredSecret = {
  key: z.string().openapi({ description: "Its name among the agent's secrets.", example: "github_token" }),
  type: z.enum(["text", "select"]),
  label: z.string().optional(),
  description: z.string().optional(),
  choices: z.array(z.string()).optional(),
  optional: z.boolean().optional(),
  sensitive: z.boolean(),
};

const definition = {
  name,
  description: z.string().openapi({ example: "Sends a request to a public web address." }),
  category: z.string().openapi({ example: "Web" }),
  origin: z.enum(["builtin", "plugin", "mcp", "agent"]),
  requiredSecrets: z.array(z.object(requiredSecret).openapi("RequiredSecret")),
};

export const ToolCatalogue = z
  .object({ tools: z.array(z.object(definition).openapi("Tool")) })
  .openapi("ToolCatalogue");

export const AgentTools = z
  .object({
    tools: z.array(
      z
        .object({
          ...definition,
          source: z
            .enum(["global", "skill", "manual"])
            .nullable()
            .openapi({ description: "What turned it on: a skill that requires it, or somebody; null: it is off." }),
          enabled: z.boolean(),
          needsApproval: z.boolean().openapi({ description: "A person decides about each call before it is made." }),
          missingSecrets: z.array(z.string()).openapi({
            description:
              "Of `requiredSecrets`, the keys of those that the agent lacks: until they are stored, the tool can't be used. Optional ones are none of them.",
            example: ["github_token"],
          }),
        })
        .openapi("AgentTool"),
    ),
  })
  .openapi("AgentTools");
export type AgentTools = z.infer<typeof AgentTools>;

const names = z.array(toolName).max(512, "must have at most 512 entries");

export const ToolChanges = z
  .object({
    enabled: names.openapi({
      description:
        "All tools that are to be on; the others are turned off. One that an enabled skill requires must be among them.",
      example: ["readSkill", "httpRequest"],
    }),
    needsApproval: names.optional().openapi({
      description:
        "All tools whose calls a person decides about; each must be on. Left out: as it is, and for a tool that is turned on now as its plugin would have it.",
      example: ["httpRequest"],
    }),
  })
  .openapi("ToolChanges");
export type ToolChanges = z.infer<typeof ToolChanges>;

/** An agent's tools in a bundle, without those that skills turn on. */
export const bundledTools = {
  manualTools: names.default(["readSkill"]).openapi({
    description: "Tools that somebody chose. Left out: those of a new agent.",
    example: ["httpRequest", "readSkill"],
  }),
  toolsNeedingApproval: names.optional().openapi({
    description:
      "Tools whose calls a person decides about, also ones that a skill turns on. Left out: as each tool has it when it is turned on.",
    example: ["httpRequest"],
  }),
};
export type BundledTools = z.output<z.ZodObject<typeof bundledTools>>;

export const RequiredSecrets = z
  .object({
    requiredSecrets: z.array(
      z
        .object({
          ...requiredSecret,
          tools: z.array(z.string()).openapi({ description: "The enabled tools that need it." }),
          configured: z.boolean().openapi({ description: "Whether the agent has it." }),
        })
        .openapi("RequiredAgentSecret"),
    ),
  })
  .openapi("RequiredSecrets");
export type RequiredSecrets = z.infer<typeof RequiredSecrets>;
