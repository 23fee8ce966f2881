// Reads which changes of the API the changesets since the last release announce.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { Change } from "./document.ts";

type Bump = "none" | "patch" | "minor" | "major";

export interface Changeset {
  bump: Bump;
  text: string;
}

/** The changesets in a folder that concern this package. */
export function readChangesets(folder: string, packageName: string): Changeset[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".md") && file !== "README.md")
    .map((file) => parseChangeset(readFileSync(join(folder, file), "utf8"), packageName));
}

/** Parses a changeset. Throws when the source is none, since its announcement would be lost. */
export function parseChangeset(source: string, packageName: string): Changeset {
  const [, head, text = ""] = /^---\r?\n([\s\S]*?)\r?\n?---\r?\n([\s\S]*)$/.exec(source.trimStart()) ?? [];
  if (head === undefined)
    throw new Error(`This is no changeset, whose bump stands between two lines of ---:\n${source}`);
  const bumps = parse(head) as Record<string, Bump> | null;
  return { bump: bumps?.[packageName] ?? "none", text: text.trim() };
}

/** The bump that a breaking change needs: before 1.0 it is the second number's (semver.org, item 4). */
export const breakingBump = (version: string): Bump => (version.startsWith("0.") ? "minor" : "major");

/**
 * The breaking changes that no changeset announces. A changeset announces a change by a large enough bump and by naming
 * the changed operation, such as `GET /health`, or schema in its text, in backquotes.
 */
export function unannounced(changes: readonly Change[], changesets: readonly Changeset[], version: string): Change[] {
  const enough: Bump[] = ["major", breakingBump(version)];
  const texts = changesets.filter(({ bump }) => enough.includes(bump)).map(({ text }) => text);
  return changes.filter(({ breaking, subject }) => breaking && !texts.some((text) => text.includes(`\`${subject}\``)));
}
