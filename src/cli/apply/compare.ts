import { isFields } from "../files/references.ts";

/** One difference. On one of the two sides, the field or the entry may be missing. */
export interface FieldChange {
  /** The field's path, such as `hooks[0].enabled` or `prompts[02-soul].content`. */
  path: string;
  before?: unknown;
  after?: unknown;
}

type Fields = Record<string, unknown>;

/** How entries of a list are identified, by the list's name. All other lists are compared as a whole. */
const identities: Readonly<Record<string, (entry: Fields, index: number) => string>> = {
  prompts: ({ key }) => String(key),
  skills: ({ skillSlug }) => String(skillSlug),
  channels: ({ channelType }) => String(channelType),
  skillEnv: ({ skillSlug }) => String(skillSlug),
  env: ({ key }) => String(key),
  hooks: (_, index) => String(index),
  eventSources: ({ name }) => String(name),
  definitions: ({ name }) => String(name),
  scheduledTasks: ({ name }) => String(name),
  requiredEnv: ({ name }) => String(name),
  scripts: ({ file }) => String(file),
};

/** Lists whose order matters: the matcher asks about definitions of one priority in the order of the file. */
const ordered = new Set(["definitions"]);

/** Lists of names whose order does not matter. */
const sets = new Set(["manualTools", "toolsNeedingApproval", "requiredTools", "allowedOrigins"]);

/** The changes that turn one value into another. Fields that `after` omits are not compared. */
export function compare(before: Fields, after: Fields, path = ""): FieldChange[] {
  return Object.keys(after).flatMap((name) => {
    const wanted = after[name];
    if (wanted === undefined) return [];
    const had = own(before, name);
    return compareField(name, { before: had, after: wanted, path: path === "" ? name : `${path}.${name}` });
  });
}

/** Reads only own fields of the object, since all objects inherit a `constructor`. */
const own = (fields: Fields, name: string) => (Object.hasOwn(fields, name) ? fields[name] : undefined);

/** `compare`, which also reports fields that only `before` has. */
function compareWhole(before: Fields, after: Fields, path: string): FieldChange[] {
  const gone = Object.keys(before).filter((name) => before[name] !== undefined && own(after, name) === undefined);
  return [...compare(before, after, path), ...gone.map((name) => ({ path: `${path}.${name}`, before: before[name] }))];
}

function compareField(name: string, change: Required<FieldChange>): FieldChange[] {
  const { before, after, path } = change;
  if (isSame(before, after)) return [];
  if (Array.isArray(before) && Array.isArray(after)) {
    if (sets.has(name)) return compareSets(before, after, path);
    const identity = Object.hasOwn(identities, name) ? identities[name] : undefined;
    if (identity) {
      const [had, wanted] = [named(before, identity), named(after, identity)];
      return [...compareEntries(had, wanted, path), ...(ordered.has(name) ? compareOrder(had, wanted, path) : [])];
    }
  }
  if (isFields(before) && isFields(after)) return compareWhole(before, after, path);
  return [before === undefined ? { path, after } : change];
}

function compareSets(before: readonly unknown[], after: readonly unknown[], path: string): FieldChange[] {
  const [had, wanted] = [new Set(before), new Set(after)];
  return [
    ...[...had].filter((one) => !wanted.has(one)).map((one) => ({ path, before: one })),
    ...[...wanted].filter((one) => !had.has(one)).map((one) => ({ path, after: one })),
  ];
}

/** The entries of a list by their identity. If an identity occurs twice, a number is added. */
function named(list: readonly unknown[], identity: (entry: Fields, index: number) => string): Map<string, unknown> {
  const entries = new Map<string, unknown>();
  for (const [index, entry] of list.entries()) {
    const name = isFields(entry) ? identity(entry, index) : String(index);
    let free = name;
    for (let number = 2; entries.has(free); number += 1) free = `${name} ${number}`;
    entries.set(free, entry);
  }
  return entries;
}

function compareEntries(
  before: ReadonlyMap<string, unknown>,
  after: ReadonlyMap<string, unknown>,
  path: string,
): FieldChange[] {
  const gone = [...before].filter(([name]) => !after.has(name));
  const changed = [...after].flatMap(([name, entry]): FieldChange[] => {
    const at = `${path}[${name}]`;
    const earlier = before.get(name);
    if (earlier === undefined) return [{ path: at, after: entry }];
    if (!isFields(earlier) || !isFields(entry))
      return isSame(earlier, entry) ? [] : [{ path: at, before: earlier, after: entry }];
    return compareWhole(earlier, entry, at);
  });
  return [...gone.map(([name, entry]) => ({ path: `${path}[${name}]`, before: entry })), ...changed];
}

/** Reports when the entries that both lists have are in another order. */
function compareOrder(
  had: ReadonlyMap<string, unknown>,
  wanted: ReadonlyMap<string, unknown>,
  path: string,
): FieldChange[] {
  const before = [...had.keys()].filter((name) => wanted.has(name));
  const after = [...wanted.keys()].filter((name) => had.has(name));
  return isSame(before, after) ? [] : [{ path, before, after }];
}

/** Whether two JSON values are equal, whatever the order of fields. */
export function isSame(one: unknown, other: unknown): boolean {
  return canonical(one) === canonical(other);
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => {
    if (!isFields(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
