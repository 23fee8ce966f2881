import type { ComponentChildren } from "preact";
import { Note } from "../note.tsx";
import { Code } from "./code.tsx";

interface Props {
  /** The name of the secret, such as `Password of Ada`. */
  label: string;
  text: string;
  children?: ComponentChildren;
}

/** A secret that the server shows only once. */
export const ShownOnce = ({ label, text, children }: Props) => (
  <Note look="good">
    <p>It is shown only now: keep it as you keep a password. {children}</p>
    <Code label={label} text={text} />
  </Note>
);
