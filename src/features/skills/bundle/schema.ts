import { z } from "@hono/zod-openapi";
import { zText } from "../../../core/text/text.ts";
import { maxKeys } from "../env/service.ts";
import { mostSkills } from "../rules.ts";
import { EnvKey, VersionNumber } from "../schema.ts";

const skillSlug = zText(512)
  .min(1, "must not be empty")
  .openapi({ description: "In the catalogue.", example: "refunds" });

const isNamedOnce = (list: readonly { skillSlug: string }[]) =>
  new Set(list.map((one) => one.skillSlug)).size === list.length;

const BundledSkill = z.object({
  skillSlug,
  enabled: z.boolean().default(true),
  autoLoad: z.boolean().default(false).openapi({ description: "Whether the whole content is in the prompt." }),
  pinnedVersion: VersionNumber.nullable()
    .default(null)
    .openapi({ description: "Null, or one that the catalogue lacks: its current one.", example: "0.2.0" }),
});
export type BundledSkill = z.output<typeof BundledSkill>;

/** An agent's skills in a bundle, without their texts, which are in the catalogue. */
export const bundledSkills = z
  .array(BundledSkill)
  .max(mostSkills, `must have at most ${mostSkills} entries`)
  .refine(isNamedOnce, "must not name a skill twice");

const EnvEntry = z.object({
  key: EnvKey,
  sensitive: z.boolean().default(true),
  value: zText(8192)
    .optional()
    .openapi({ description: "Of one that is not sensitive.", example: "https://shop.example" }),
  configured: z.boolean().default(false).openapi({
    description: "Of a sensitive one: whether the exported agent has a value, which no bundle holds.",
    example: true,
  }),
});

const areDistinct = (entries: readonly { key: string }[]) =>
  new Set(entries.map(({ key }) => key)).size === entries.length;

const BundledEnv = z.object({
  skillSlug,
  env: z
    .array(EnvEntry)
    .max(maxKeys, `must have at most ${maxKeys} entries`)
    .refine(areDistinct, "must not name a key twice"),
});
export type BundledEnv = z.output<typeof BundledEnv>;

/** An agent's skill variables in a bundle: only non-sensitive values. */
export const bundledSkillEnv = z
  .array(BundledEnv)
  .max(mostSkills, `must have at most ${mostSkills} entries`)
  .refine(isNamedOnce, "must not name a skill twice");
