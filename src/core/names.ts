/** One order for all installations. The collations that a database has depend on how it was built. */
const collator = new Intl.Collator("en");

/** Sorts by name as people do: É beside e, whatever the case. Equal names keep their order. */
export function sortByName<T extends { name: string }>(list: readonly T[]): T[] {
  return list.toSorted((a, b) => collator.compare(a.name, b.name));
}
