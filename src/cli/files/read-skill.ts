import { ImportedSkill, skillSlugOf, unknownFields } from "../../engine.ts";
import type { FileDocument } from "./documents.ts";
import type { Problem } from "./problem.ts";
import { describeIssues, describeUnknown } from "./read-agent.ts";

/** A skill of the catalogue as its file describes it. */
export interface SkillFile {
  slug: string;
  /** Where the skill's document begins. */
  place: string;
  /** The skill, with defaults for fields that the file leaves out. */
  skill: SkillContent;
}

export type SkillContent = Omit<ImportedSkill, "versions" | "category"> & { category: string };

/** The category of imported skills that have none. */
export const usualCategory = "general";

/** Reads a document with `type: skill`. */
export function readSkill(
  document: FileDocument,
  fields: Record<string, unknown>,
): { skill: SkillFile | null; problems: Problem[] } {
  const { $schema: _forEditors, type: _known, ...own } = fields;
  const parsed = ImportedSkill.safeParse(own);
  const issues = parsed.success ? [] : parsed.error.issues;
  // Some missing fields are reported by the schema already.
  const told = new Set(issues.map(({ path }) => path.join()));
  const unknown = unknownFields(ImportedSkill, own).filter(({ path }) => !told.has(path.join()));
  const problems = [...describeUnknown(unknown, document), ...describeIssues(issues, document)];
  if (Object.hasOwn(own, "versions")) {
    problems.push({
      place: document.placeOf(["versions"]),
      message: "A file holds one version of a skill: leave out `versions`",
    });
  }
  if (problems.length > 0 || !parsed.success) return { skill: null, problems };
  const { versions: _history, ...content } = parsed.data;
  const skill = { ...content, category: content.category ?? usualCategory };
  return { skill: { slug: skillSlugOf(skill.name), place: document.placeOf(["name"]), skill }, problems };
}
