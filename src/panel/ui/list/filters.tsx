import type { ComponentChildren } from "preact";
import type { Filters as State } from "../../data/list/filters.ts";
import { goOnTo } from "../../data/route.ts";
import { type Choices, choicesWith } from "../form/choices.ts";
import { Choice, DayField } from "../form/field.tsx";
import { SearchField } from "./search.tsx";

/** A text field; a choice that begins with one for `all`; or a day in UTC. */
type Filter<Name extends string> = { name: Name; label: string } & (
  | { kind: "search"; placeholder: string }
  | { kind: "choice"; all?: string; choices: Choices }
  | { kind: "day" }
);

interface Props<Name extends string> {
  of: State<Name>;
  fields: readonly Filter<Name>[];
  /** A layout other than `columns`. */
  look?: "narrow" | "audit-filters" | "filters";
  /** Shown before the fields. */
  children?: ComponentChildren;
}

/** The fields that filter a list. While a person types, no entries are added to the browser's history. */
export const Filters = <Name extends string>({ of, fields, look, children }: Props<Name>) => (
  <search class={look ? `columns ${look}` : "columns"}>
    {children}
    {fields.map((field) => (
      <FilterField key={field.name} of={of} field={field} />
    ))}
  </search>
);

function FilterField<Name extends string>({ of, field }: { of: State<Name>; field: Filter<Name> }) {
  const { name, label } = field;
  const value = of.values[name];
  const set = (next: string, go?: typeof goOnTo) => of.set({ [name]: next } as Partial<Record<Name, string>>, go);
  if (field.kind === "search") {
    const { placeholder } = field;
    return <SearchField label={label} placeholder={placeholder} text={value} onText={(text) => set(text, goOnTo)} />;
  }
  if (field.kind === "choice") {
    const { all, choices } = field;
    const offered = all === undefined ? choices : choicesWith(all, choices, value);
    return <Choice label={label} value={value} choices={offered} onValue={set} />;
  }
  return <DayField label={label} value={value} onValue={(day) => set(day, goOnTo)} />;
}
