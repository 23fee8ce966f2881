import { useSignal } from "@preact/signals";
import { itemsIn, textOf } from "../../data/lists.ts";
import { TextArea, TextField } from "./field.tsx";

interface Props {
  label: string;
  hint?: string;
  problem?: string | undefined;
  optional?: boolean;
  /** One item a line, in place of commas between them. */
  lines?: boolean;
  items: readonly string[];
  onItems: (items: string[]) => void;
}

/** A list that is written as text. The text stays as it is typed. */
export function ListField({ lines = false, items, onItems, ...rest }: Props) {
  const typed = useSignal("");
  const separator = lines ? "\n" : ",";
  const value = textOf(items, typed.value, separator);
  const onValue = (text: string) => {
    typed.value = text;
    onItems(itemsIn(text, separator));
  };
  return lines ? <TextArea {...rest} {...{ value, onValue }} /> : <TextField {...rest} {...{ value, onValue }} />;
}
