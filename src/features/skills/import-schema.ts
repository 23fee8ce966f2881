import { z } from "@hono/zod-openapi";
import { zText } from "../../core/text.ts";
import { slugOf } from "./rules.ts";
import { Category, neverFields, refusing, SkillName, VersionNumber, versionFields } from "./schema.ts";

/** The body of an import may have 8 MiB (decisions §3), and so may an archive once it is unpacked. */
export const importLimit = 8 * 1024 * 1024;

/** A path inside the folder `scripts`. */
export const scriptFile = /^(?!.*(^|\/)\.\.?(\/|$))[A-Za-z0-9_.-]+(\/[A-Za-z0-9_.-]+)*\.m?js$/;

const SkillScript = z
  .object({
    file: z
      .string()
      .max(128, "must be at most 128 characters")
      .regex(scriptFile, "must be the name of a JavaScript file, such as report.js")
      .openapi({ example: "total.js" }),
    description: zText(1000).default("").openapi({ example: "Adds up the order." }),
    content: zText(262_144).openapi({ example: "export default ({ prices }) => prices.reduce((a, b) => a + b, 0);" }),
  })
  .openapi("SkillScript");

const scripts = z
  .array(SkillScript)
  .max(64, "must have at most 64 entries")
  .refine((list) => new Set(list.map(({ file }) => file)).size === list.length, "must not name a file twice")
  .default([])
  .openapi({ description: "JavaScript that the tool `runSkillScript` runs in a sandbox." });

const ImportedVersion = z
  .object({
    version: VersionNumber,
    ...versionFields,
    scripts,
    changelog: zText(2000).nullish(),
    createdAt: z.iso
      .datetime({ offset: true, error: "must be an ISO 8601 date and time with a zone" })
      .optional()
      .openapi({ description: "Absent: now." }),
  })
  .openapi("ImportedSkillVersion");

const distinctNumbers = (list: readonly { version: string }[]) =>
  new Set(list.map(({ version }) => version)).size === list.length;

export const ImportedSkill = refusing(
  neverFields,
  z.object({
    name: SkillName,
    category: Category.optional(),
    ...versionFields,
    scripts,
    versions: z
      .array(ImportedVersion)
      .max(500, "must have at most 500 entries")
      .refine(distinctNumbers, "must not name a version twice")
      .optional()
      .openapi({ description: "The history, in any order; the versions keep their numbers." }),
  }),
).openapi("ImportedSkill");
export type ImportedSkill = z.infer<typeof ImportedSkill>;

export const SkillImport = z
  .object({
    skills: z
      .array(ImportedSkill)
      .min(1, "must have at least one entry")
      .max(500, "must have at most 500 entries")
      .superRefine((list, context) => {
        const slugs = list.map(({ name }) => slugOf(name));
        const twice = new Set(slugs.filter((slug, index) => slugs.indexOf(slug) !== index));
        for (const slug of twice) context.addIssue({ code: "custom", message: `two of them have the slug ${slug}` });
      }),
  })
  .openapi("SkillImport");
export type SkillImport = z.infer<typeof SkillImport>;

export const ImportAnswer = z
  .object({
    created: z.int().openapi({ description: "Skills that are new.", example: 1 }),
    updated: z.int().openapi({ description: "Skills that got a version, or another category.", example: 0 }),
    skipped: z.int().openapi({ description: "Skills that were the same already.", example: 0 }),
    ignored: z
      .array(z.string())
      .openapi({ description: "Files of an archive that skills have no use for.", example: ["refunds/logo.png"] }),
  })
  .openapi("SkillImportAnswer");
export type ImportAnswer = z.infer<typeof ImportAnswer>;
