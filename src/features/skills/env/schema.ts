import { z } from "@hono/zod-openapi";
import { zText } from "../../../core/text/text.ts";
import { agentSkillPath } from "../agent/schema.ts";
import { EnvKey } from "../schema.ts";

const envItem = z.object({
  key: EnvKey,
  value: zText(8192).openapi({ example: "https://weather.example.com" }),
  sensitive: z.boolean().optional().openapi({
    description: "Whether its value is never shown; absent: as stored, else as the skill says, else true.",
    example: false,
  }),
});
export type EnvItem = z.infer<typeof envItem>;

const distinct = (items: readonly { key: string }[]) => new Set(items.map(({ key }) => key)).size === items.length;

export const EnvBody = z
  .object({
    env: z.array(envItem).max(64, "must have at most 64 entries").refine(distinct, "must not name a key twice"),
  })
  .openapi("SkillEnvBody");

export const SkillEnv = z
  .object({
    env: z.array(
      z.object({
        key: z.string().openapi({ example: "WEATHER_URL" }),
        value: z.string().openapi({ description: "Empty when sensitive, stored or not.", example: "" }),
        sensitive: z.boolean(),
        configured: z.boolean().openapi({ description: "Whether a value is stored." }),
        description: z.string().openapi({ description: "What the skill says about it.", example: "" }),
      }),
    ),
  })
  .openapi("SkillEnv");
export type SkillEnv = z.infer<typeof SkillEnv>;

export const envPath = agentSkillPath.extend({ key: EnvKey });
