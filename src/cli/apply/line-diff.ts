/** The lines of two texts in order: kept, removed and added ones. */
export type Line = { kind: " " | "-" | "+"; text: string };

/** Beyond so many changed lines the whole text counts as replaced: the search takes the square of them. */
const mostChanges = 1_000;

/** Lines shown around a change. */
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

/** The lines of a text; one that ends without a line break says so, because else a diff could be empty. */
export function linesOf(text: string): string[] {
  if (text === "") return [];
  return text.endsWith("\n") ? text.slice(0, -1).split("\n") : [...text.split("\n"), "\\ No line break at the end"];
}

/** The shortest way from one list of lines to another (Myers), between their equal beginnings and ends. */
export function diffLines(before: readonly string[], after: readonly string[]): Line[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const kept = (texts: readonly string[]) => texts.map((text) => ({ kind: " ", text }) as const);
  return [
    ...kept(before.slice(0, start)),
    ...shortest(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...kept(before.slice(before.length - end)),
  ];
}

function shortest(before: readonly string[], after: readonly string[]): Line[] {
  const rounds = search(before, after);
  return rounds === null ? replaced(before, after) : retrace(before, after, rounds);
}

const replaced = (before: readonly string[], after: readonly string[]): Line[] => [
  ...before.map((text) => ({ kind: "-", text }) as const),
  ...after.map((text) => ({ kind: "+", text }) as const),
];

/** How far into `before` each diagonal reaches with each number of changes; null for too many changes. */
function search(before: readonly string[], after: readonly string[]): Map<number, number>[] | null {
  const rounds: Map<number, number>[] = [];
  let reach = new Map([[1, 0]]);
  for (let changes = 0; changes <= Math.min(before.length + after.length, mostChanges); changes += 1) {
    rounds.push(reach);
    const next = new Map(reach);
    for (let diagonal = -changes; diagonal <= changes; diagonal += 2) {
      let x = stepsDown(reach, diagonal, changes) ? at(reach, diagonal + 1) : at(reach, diagonal - 1) + 1;
      while (x < before.length && x - diagonal < after.length && before[x] === after[x - diagonal]) x += 1;
      next.set(diagonal, x);
      if (x >= before.length && x - diagonal >= after.length) return rounds;
    }
    reach = next;
  }
  return null;
}

const at = (reach: ReadonlyMap<number, number>, diagonal: number) => reach.get(diagonal) ?? -1;

/** Whether the furthest way to a diagonal adds a line, and does not remove one. */
function stepsDown(reach: ReadonlyMap<number, number>, diagonal: number, changes: number): boolean {
  if (diagonal === -changes) return true;
  return diagonal !== changes && at(reach, diagonal - 1) < at(reach, diagonal + 1);
}

/** The way that a search found, from its end to its beginning. */
function retrace(
  before: readonly string[],
  after: readonly string[],
  rounds: readonly ReadonlyMap<number, number>[],
): Line[] {
  const lines: Line[] = [];
  let [x, y] = [before.length, after.length];
  for (let changes = rounds.length - 1; changes >= 0; changes -= 1) {
    const reach = rounds[changes] ?? new Map();
    const down = stepsDown(reach, x - y, changes);
    const diagonal = down ? x - y + 1 : x - y - 1;
    const fromX = at(reach, diagonal);
    const fromY = fromX - diagonal;
    while (x > fromX && y > fromY && x > 0 && y > 0) {
      lines.push({ kind: " ", text: before[x - 1] ?? "" });
      x -= 1;
      y -= 1;
    }
    if (changes === 0) break;
    lines.push(down ? { kind: "+", text: after[fromY] ?? "" } : { kind: "-", text: before[fromX] ?? "" });
    [x, y] = [fromX, fromY];
  }
  return lines.reverse();
}
