import { z } from "@hono/zod-openapi";
import { zText } from "../../../core/text/text.ts";
import { zMoment } from "../../../core/time/calendar.ts";
import { shownIssues } from "../../../http/errors.ts";
import { mostSkills, mostVersions, slugOf } from "../rules.ts";
import { Category, neverFields, refusing, SkillName, VersionNumber, versionFields } from "../schema.ts";

/** The limit of an import's body (decisions §3), and of an unpacked archive. */
export const importLimit = 8 * 1024 * 1024;

/** The most versions of all skills together, since each version is a row. */
const maxVersions = 5000;

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

/** The first time that PostgreSQL can store: it has no year 0. */
const firstMoment = Date.parse("0001-01-01T00:00:00Z");

const ImportedVersion = z
  .object({
    version: VersionNumber,
    ...versionFields,
    scripts,
    changelog: zText(2000).nullish(),
    createdAt: zMoment()
      .refine((moment) => !(Date.parse(moment) < firstMoment), "must be in the year 1 or later")
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
      .max(mostVersions, `must have at most ${mostVersions} entries`)
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
      .max(mostSkills, `must have at most ${mostSkills} entries`)
      .superRefine((list, context) => {
        for (const message of slugsTwice(list)) context.addIssue({ code: "custom", message });
      }),
  })
  .openapi("SkillImport", { description: `At most ${maxVersions} versions in all.` });
export type SkillImport = z.infer<typeof SkillImport>;

function slugsTwice(list: readonly { name: string }[]): string[] {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const { name } of list) {
    const slug = slugOf(name);
    if (seen.has(slug)) twice.add(slug);
    seen.add(slug);
  }
  return [...twice].map((slug) => `two of them have the slug ${slug}`);
}

type Issues = z.core.$ZodIssue[];

/** The skills of an import, or its issues. Stops when there are more issues than a response contains. */
export function parseImport(body: unknown): { skills: SkillImport["skills"] } | { issues: Issues } {
  const outline = ImportOutline.safeParse(body);
  if (!outline.success) return { issues: outline.error.issues };
  const skills: SkillImport["skills"] = [];
  const issues: Issues = [];
  for (const [index, one] of outline.data.skills.entries()) {
    const parsed = ImportedSkill.safeParse(one);
    if (parsed.success) skills.push(parsed.data);
    else issues.push(...parsed.error.issues.map((issue) => ({ ...issue, path: ["skills", index, ...issue.path] })));
    if (issues.length > shownIssues) break;
  }
  if (issues.length > 0) return { issues };
  const twice = slugsTwice(skills).map((message) => ({ code: "custom" as const, path: ["skills"], message }));
  return twice.length > 0 ? { issues: twice } : { skills };
}

/** Checks that are cheap even for a large import. */
const ImportOutline = z.object({
  skills: z
    .array(z.unknown())
    .min(1, "must have at least one entry")
    .max(mostSkills, `must have at most ${mostSkills} entries`)
    .refine((list) => countVersions(list) <= maxVersions, `must have at most ${maxVersions} versions in all`),
});

function countVersions(list: readonly unknown[]): number {
  const lengths = list.map((one) =>
    typeof one === "object" && one !== null && "versions" in one && Array.isArray(one.versions)
      ? one.versions.length
      : 0,
  );
  return lengths.reduce((sum, length) => sum + length, 0);
}

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
