import { z } from "@hono/zod-openapi";
import { zText } from "../../../core/text/text.ts";
import { Timestamp } from "../../../http/shapes.ts";
import {
  Category,
  neverFields,
  RequiredEnv,
  refusing,
  SkillName,
  skillPath,
  VersionNumber,
  versionFields,
} from "../schema.ts";

const plainFields = { ...neverFields, scripts: "can only come with an import" };

const refusals =
  "`tags`, `language`, `requiredSecrets`, `dependsOnTools`, `version` and `scripts` are refused; other unknown fields are ignored.";

export const NewSkill = refusing(
  plainFields,
  z.object({ name: SkillName, category: Category.optional(), ...versionFields }),
).openapi("NewSkill", { description: refusals });
export type NewSkill = z.infer<typeof NewSkill>;

export const SkillChanges = refusing(
  plainFields,
  z.object({
    name: z
      .string()
      .optional()
      .openapi({ description: "May be sent as it is; another one is refused.", example: "Refunds" }),
    category: Category.optional().openapi({ description: "Stays as it is when left out." }),
    ...versionFields,
    changelog: zText(2000).nullish().openapi({ description: "What changed.", example: "Say how long it takes." }),
  }),
).openapi("SkillChanges", { description: refusals });
export type SkillChanges = z.infer<typeof SkillChanges>;

const answered = {
  name: z.string().openapi({ example: "Refunds" }),
  slug: z.string().openapi({ description: "Names it in paths.", example: "refunds" }),
  description: z.string().openapi({ example: "How to answer on refunds." }),
  category: z.string().openapi({ example: "general" }),
  requiredEnv: z.array(RequiredEnv),
  requiredTools: z.array(z.string()).openapi({ example: ["httpRequest"] }),
  content: z.string().openapi({ example: "# Refunds\n\nAsk for the order." }),
  version: VersionNumber,
};

export const Skill = z.object(answered).openapi("Skill");
export type Skill = z.infer<typeof Skill>;

export const SkillList = z.object({ skills: z.array(Skill) }).openapi("SkillList");

const history = {
  id: z.uuid().openapi({ description: "A rollback takes it, too." }),
  version: VersionNumber,
  changelog: z.string().nullable().openapi({ example: "Say how long it takes." }),
  createdAt: Timestamp,
};

export const SkillVersions = z.object({ versions: z.array(z.object(history)) }).openapi("SkillVersions");
export type SkillVersions = z.infer<typeof SkillVersions>;

export const SkillVersion = z.object({ ...answered, ...history }).openapi("SkillVersion");
export type SkillVersion = z.infer<typeof SkillVersion>;

export const versionPath = skillPath.extend({ version: z.string().openapi({ example: "0.1.0" }) });
