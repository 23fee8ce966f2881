import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { TextField } from "./field.tsx";

interface Props {
  label: string;
  placeholder: string;
  text: string;
  onText: (text: string) => void;
}

/** How long a person who types is waited for, in milliseconds. */
const pauseMs = 250;

/** Tells of the text once its writer pauses. */
export function SearchField({ label, placeholder, text, onText }: Props) {
  const typed = useSignal(text);
  const { value } = typed;
  useEffect(() => {
    if (value === text) return;
    const timer = setTimeout(() => onText(value), pauseMs);
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
