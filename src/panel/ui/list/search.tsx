import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { wordsIn } from "../../data/text.ts";
import { TextField } from "../form/field.tsx";

interface FilteredProps<Item> {
  items: readonly Item[];
  /** The texts of an item that are searched. */
  textsOf: (item: Item) => readonly string[];
  /** The message when no item matches. */
  none: string;
  children: (found: readonly Item[]) => ComponentChildren;
}

/** Lists of up to this many items have no search field. */
const atAGlance = 7;

/** A field that filters many items by the typed words. */
export function Filtered<Item>({ items, textsOf, none, children }: FilteredProps<Item>) {
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

interface SearchProps {
  label: string;
  placeholder: string;
  text: string;
  onText: (text: string) => void;
}

/** How long a person must pause in typing before the search begins, in milliseconds. */
const pauseMs = 250;

/** Reports the text once the person pauses. Shows a search that was changed elsewhere. */
export function SearchField({ label, placeholder, text, onText }: SearchProps) {
  const typed = useSignal(text);
  const { value } = typed;
  const told = useRef(text);
  useEffect(() => {
    if (text === told.current) return;
    told.current = text;
    typed.value = text;
  }, [text, typed]);
  useEffect(() => {
    if (value === told.current) return;
    const timer = setTimeout(() => {
      told.current = value;
      onText(value);
    }, pauseMs);
    return () => clearTimeout(timer);
  }, [value, text, onText]);
  return (
    <TextField
      label={label}
      type="search"
      placeholder={placeholder}
      value={value}
      onValue={(next) => {
        typed.value = next;
      }}
    />
  );
}
