import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { wordsIn } from "../../data/words.ts";
import { TextField } from "../form/field.tsx";

interface Props<Item> {
  items: readonly Item[];
  /** What is looked at for the words. */
  textsOf: (item: Item) => readonly string[];
  /** What is said where no item has the words. */
  none: string;
  children: (found: readonly Item[]) => ComponentChildren;
}

/** So few are seen at a glance. */
const atAGlance = 7;

/** A field that leaves those of many items that have the typed words. */
export function Filtered<Item>({ items, textsOf, none, children }: Props<Item>) {
  const typed = useSignal("");
  if (items.length <= atAGlance) return children(items);
  const has = wordsIn(typed.value);
  const found = items.filter((item) => has(...textsOf(item)));
  return (
    <>
      <TextField
        label="Search"
        type="search"
        value={typed.value}
        onValue={(text) => {
          typed.value = text;
        }}
      />
      {children(found)}
      {found.length === 0 && <p class="soft">{none}</p>}
    </>
  );
}
