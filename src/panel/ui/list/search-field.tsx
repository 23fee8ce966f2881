import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { TextField } from "../form/field.tsx";

interface Props {
  label: string;
  placeholder: string;
  text: string;
  onText: (text: string) => void;
}

/** How long a person who types is waited for, in milliseconds. */
const pauseMs = 250;

/** Tells of the text once its writer pauses. Shows what is looked for where somebody else changed that. */
export function SearchField({ label, placeholder, text, onText }: Props) {
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
