import { dict, type ObjectFile, type ObjectId, ref, textString } from "./objects.ts";

/** A heading where it stands. */
export interface Heading {
  title: string;
  /** 1 is the highest. */
  level: number;
  anchor: string;
  /** From 0. */
  page: number;
  /** From the upper edge of the page. */
  y: number;
}

interface Entry {
  id: ObjectId;
  heading: Heading;
  parent: Entry | null;
  /** Among its siblings. */
  place: number;
  children: Entry[];
}

/** Writes the headings as a tree that readers show beside the pages; null when there are none. */
export function outlineOf(
  file: ObjectFile,
  headings: readonly Heading[],
  destinations: ReadonlyMap<string, string>,
): ObjectId | null {
  if (headings.length === 0) return null;
  const root = file.reserve();
  const entries = treeOf(file, headings);
  const top = entries.filter(({ parent }) => parent === null);
  for (const entry of entries) file.put(entry.id, body(entry, entry.parent?.children ?? top, root, destinations));
  return file.put(root, dict({ Type: "/Outlines", ...span(top), Count: entries.length }));
}

/** A heading belongs to the nearest one before it that is of a higher level. */
function treeOf(file: ObjectFile, headings: readonly Heading[]): Entry[] {
  const open: Entry[] = [];
  let top = 0;
  return headings.map((heading) => {
    while ((open.at(-1)?.heading.level ?? 0) >= heading.level) open.pop();
    const parent = open.at(-1) ?? null;
    const entry: Entry = { id: file.reserve(), heading, parent, place: parent?.children.length ?? top, children: [] };
    if (!parent) top++;
    parent?.children.push(entry);
    open.push(entry);
    return entry;
  });
}

function body(
  { heading, parent, place, children }: Entry,
  siblings: readonly Entry[],
  root: ObjectId,
  destinations: ReadonlyMap<string, string>,
): string {
  const [before, after] = [siblings[place - 1], siblings[place + 1]];
  return dict({
    Title: textString(heading.title),
    Parent: ref(parent?.id ?? root),
    Dest: destinations.get(heading.anchor) ?? "null",
    ...(before ? { Prev: ref(before.id) } : {}),
    ...(after ? { Next: ref(after.id) } : {}),
    ...(children.length > 0 ? { ...span(children), Count: countOf(children) } : {}),
  });
}

const span = (entries: readonly Entry[]): Record<string, string> => {
  const [first, last] = [entries[0], entries.at(-1)];
  return first && last ? { First: ref(first.id), Last: ref(last.id) } : {};
};

const countOf = (entries: readonly Entry[]): number =>
  entries.reduce((sum, { children }) => sum + 1 + countOf(children), 0);
