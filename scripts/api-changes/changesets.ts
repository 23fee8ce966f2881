// Which changes of the interface the changesets since the last release announce.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { Change } from "./document.ts";

type Bump = "none" | "patch" | "minor" | "major";

export interface Changeset {
  bump: Bump;
  text: string;
}

/** The changesets in a folder, for this package. */
export function readChangesets(folder: string, packageName: string): Changeset[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".md") && file !== "README.md")
    .map((file) => parseChangeset(readFileSync(join(folder, file), "utf8"), packageName));
}

/** Throws when the source is no changeset: what it announces would be lost. */
export function parseChangeset(source: string, packageName: string): Changeset {
  const [, head, text = ""] = /^---\r?\n([\s\S]*?)\r?\n?---\r?\n([\s\S]*)$/.exec(source.trimStart()) ?? [];
  if (head === undefined)
    throw new Error(`This is no changeset, whose bump stands between two lines of ---:\n${source}`);
  const bumps = parse(head) as Record<string, Bump> | null;
  return { bump: bumps?.[packageName] ?? "none", text: text.trim() };
}

/** What a version has to become for a breaking change: before 1.0 the second number says it (semver.org, item 4). */
export const breakingBump = (version: string): Bump => (version.startsWith("0.") ? "minor" : "major");

/**
 * The breaking changes that no changeset announces. One announces a change by a bump that is large enough and by naming
 * in its text, in backquotes, what changed: an operation, such as `GET /health`, or a schema.
 */
export function unannounced(changes: readonly Change[], changesets: readonly Changeset[], version: string): Change[] {
  const enough: Bump[] = ["major", breakingBump(version)];
  const texts = changesets.filter(({ bump }) => enough.includes(bump)).map(({ text }) => text);
  return changes.filter(({ breaking, subject }) => breaking && !texts.some((text) => text.includes(`\`${subject}\``)));
}
