import { useSignal } from "@preact/signals";
import { itemsIn, textOf } from "../../data/lists.ts";
import { type Described, TextArea, TextField } from "./field.tsx";

interface Props extends Described {
  /** One item a line, in place of commas between them. */
  lines?: boolean | undefined;
  items: readonly string[];
  onItems: (items: string[]) => void;
}

/** A list that is written as text. The text stays as it is typed. */
export function ListField({ lines = false, items, onItems, ...rest }: Props) {
  const typed = useSignal("");
  const separator = lines ? "\n" : ",";
  const Input = lines ? TextArea : TextField;
  return (
    <Input
      {...rest}
      value={textOf(items, typed.value, separator)}
      onValue={(text) => {
        typed.value = text;
        onItems(itemsIn(text, separator));
      }}
    />
  );
}
