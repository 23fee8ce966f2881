import { lazy } from "../lazy.ts";

/**
 * The same order in all installations: a database's collations depend on its build. Made when first used, which takes
 * some milliseconds.
 */
const collator = lazy(() => new Intl.Collator("en"));

/** Sorts by name as people do: É beside e, upper and lower case alike. Equal names keep their order. */
export function sortByName<T extends { name: string }>(list: readonly T[]): T[] {
  const { compare } = collator();
  return list.toSorted((a, b) => compare(a.name, b.name));
}

/** Removes the first item of this name from the list, and returns it. */
export function takeNamed<T extends { name: string }>(list: T[], name: string): T | undefined {
  const at = list.findIndex((one) => one.name === name);
  return at < 0 ? undefined : list.splice(at, 1)[0];
}

/** The form of an agent's slug. `isSlug` of the agents also refuses some words. */
export const agentSlugPattern = /^[a-z0-9_.-]{1,128}$/;
