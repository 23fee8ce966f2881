import { lazy } from "../lazy.ts";

/**
 * One order for all installations: the collations that a database has depend on how it was built. Making it takes some
 * milliseconds of a start.
 */
const collator = lazy(() => new Intl.Collator("en"));

/** Sorts by name as people do: É beside e, whatever the case. Equal names keep their order. */
export function sortByName<T extends { name: string }>(list: readonly T[]): T[] {
  const { compare } = collator();
  return list.toSorted((a, b) => compare(a.name, b.name));
}

/** The first one of this name, which is taken out of the list. */
export function takeNamed<T extends { name: string }>(list: T[], name: string): T | undefined {
  const at = list.findIndex((one) => one.name === name);
  return at < 0 ? undefined : list.splice(at, 1)[0];
}

/** The characters and the length of an agent's slug. `isSlug` of the agents also refuses some words. */
export const agentSlugPattern = /^[a-z0-9_.-]{1,128}$/;
