import { goTo, query } from "../route.ts";
import { offsetIn } from "./offset.ts";

/** The filters of a list, stored in the page's address. */
export interface Filters<Name extends string> {
  /** Empty texts for unset filters. */
  values: Readonly<Record<Name, string>>;
  isFiltered: boolean;
  /** Changes filters and shows the first page of the list; `go` navigates. */
  set(changes: Partial<Record<Name, string>>, go?: typeof goTo): void;
  /** The position for `useList`. */
  place: { offset: number; onOffset: (offset: number, go: typeof goTo) => void };
}

/** The values that are not empty. */
export const filled = <Values extends Record<string, string>>(values: Values) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== "")) as Partial<Values>;

/** The filters with these names in a section's address. */
export function filtersOf<Name extends string>(section: string, names: readonly Name[]): Filters<Name> {
  const search = query.value;
  const values = Object.fromEntries(names.map((name) => [name, search.get(name) ?? ""])) as Record<Name, string>;
  const show = (wanted: Record<string, string>, go = goTo) => go([section], filled(wanted) as Record<string, string>);
  return {
    values,
    isFiltered: names.some((name) => values[name] !== ""),
    set: (changes, go) => show({ ...values, ...changes }, go),
    place: {
      offset: offsetIn(search.get("offset")),
      onOffset: (offset, go) => show({ ...values, offset: offset === 0 ? "" : String(offset) }, go),
    },
  };
}
