import { diffArrays } from "diff";

/** The lines of two texts in order: unchanged, removed and added ones. */
export type Line = { kind: " " | "-" | "+"; text: string };

/** Above this number of changed lines the whole text counts as replaced, since the search takes quadratic time. */
const mostChanges = 1_000;

/** How many lines are shown around a change. */
const context = 2;

/** A unified diff of two texts: lines with `@@ -line +line @@` before each part. */
export function unifiedDiff(before: string, after: string): string[] {
  const lines = diffLines(linesOf(before), linesOf(after));
  const near = new Set<number>();
  for (const [index, { kind }] of lines.entries()) {
    if (kind === " ") continue;
    for (let at = index - context; at <= index + context; at += 1) near.add(at);
  }
  const shown: string[] = [];
  let [left, right] = [1, 1];
  let skipped = true;
  for (const [index, { kind, text }] of lines.entries()) {
    if (near.has(index)) {
      if (skipped) shown.push(`@@ -${left} +${right} @@`);
      shown.push(`${kind}${text}`);
    }
    skipped = !near.has(index);
    if (kind !== "+") left += 1;
    if (kind !== "-") right += 1;
  }
  return shown;
}

/**
 * The lines of a text. If a text does not end with a line break, a note says so, since its diff could otherwise be
 * empty.
 */
export function linesOf(text: string): string[] {
  if (text === "") return [];
  return text.endsWith("\n") ? text.slice(0, -1).split("\n") : [...text.split("\n"), "\\ No line break at the end"];
}

/** The fewest changes that turn one list of lines into another. */
export function diffLines(before: readonly string[], after: readonly string[]): Line[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const removed = before.slice(start, before.length - end);
  const added = after.slice(start, after.length - end);
  const changes = diffArrays(removed, added, { maxEditLength: mostChanges }) ?? [
    { removed: true, added: false, value: removed },
    { removed: false, added: true, value: added },
  ];
  const kept = (texts: readonly string[]) => texts.map((text): Line => ({ kind: " ", text }));
  return [
    ...kept(before.slice(0, start)),
    ...changes.flatMap((change) =>
      change.value.map((text): Line => ({ kind: change.removed ? "-" : change.added ? "+" : " ", text })),
    ),
    ...kept(before.slice(before.length - end)),
  ];
}
