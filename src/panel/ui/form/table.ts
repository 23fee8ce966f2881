import { type ComponentChildren, isValidElement, type VNode } from "preact";
import type { PathOf, ValueAt } from "../../data/form/paths.ts";
import type { Say } from "../../data/refusal-text.ts";
import type { Choices } from "./choices.ts";

/** The attributes of an input that some fields have. */
export interface Attributes {
  type?: "text" | "email" | "url" | "datetime-local" | undefined;
  placeholder?: string;
  required?: boolean;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  autocomplete?: string;
  autocapitalize?: "none";
  spellcheck?: boolean;
  /** Has the focus once it is there. */
  autofocus?: boolean;
}

/** The control of a custom field. */
export interface Control<Value> {
  value: Value;
  problem: string | undefined;
  onValue: (value: Value) => void;
}

/** A password is what a person signs in with here, so that the browser may keep it; other secrets are of kind `secret`. */
type TextKind =
  /** `suggestions` are offered while somebody types. */
  | (Attributes & { kind?: "text" | "secret"; suggestions?: readonly string[] })
  | (Attributes & { kind: "password"; autocomplete: "current-password" | "new-password" })
  | (Attributes & { kind: "area"; rows?: number })
  | { kind: "choice"; choices: Choices };

/** With `lines` it has one item a line, in place of commas between them. */
type ListKind = { kind: "list"; lines?: boolean };

/** The kinds of field that fit a value. Where the value can be null, `empty` says whether an empty text is stored as null. */
type KindOf<Value> =
  | { kind: "custom"; control(control: Control<Value>): VNode }
  | ([Value] extends [boolean]
      ? { kind: "switch" }
      : [Value] extends [number | null]
        ? { kind: "number"; step?: "any" }
        : [Value] extends [readonly string[]]
          ? ListKind
          : [Value] extends [string | null]
            ? TextKind & (null extends Value ? { empty: null | "" } : unknown)
            : never);

interface About {
  label: string;
  /** Help below the field. */
  hint?: ComponentChildren;
  /** It may stay empty. A number that may not is NaN while it is. */
  optional?: boolean;
  /** False: the field is not there now. Refusals still name it by its label. */
  shown?: boolean;
  /** The path by which the API refuses the field, where that is not its name. */
  path?: string;
  /** The API's refusal in other words. */
  wording?: (message: string) => string;
  /** A problem that the panel finds by itself. */
  problem?: string | undefined;
}

/** A field of a form over `T`: its path in the values, its label, and how it is filled in. */
export type FieldOf<T> = {
  [Name in PathOf<T>]: About & { name: Name } & KindOf<ValueAt<T, Name>> & {
      /** Further changes that come with a change of the field. */
      also?(value: ValueAt<T, Name>): Partial<T>;
    };
}[PathOf<T>];

/** Fields under a heading of their own. */
interface Section<T> {
  title: string;
  lead?: string;
  fields: FieldTable<T>;
}

/** The fields of a form from top to bottom. Those of a list stand side by side; an element stands where it is. */
export type FieldTable<T> = readonly (FieldOf<T> | Row<T> | Section<T> | VNode | false)[];

/** Fields side by side. */
export type Row<T> = readonly (FieldOf<T> | VNode | false)[];

/** A field as it is rendered, whatever its form is over. */
export interface AnyField extends About, Omit<Attributes, "type"> {
  name: string;
  kind?: "text" | "secret" | "password" | "area" | "choice" | "list" | "switch" | "number" | "custom";
  empty?: null | "";
  also?(value: unknown): object;
  control?(control: Control<unknown>): VNode;
  choices?: Choices;
  lines?: boolean;
  suggestions?: readonly string[];
}

/** All fields of a table, hidden ones included. */
export const fieldsIn = <T>(fields: FieldTable<T>): AnyField[] =>
  fields.flatMap((item): AnyField[] => {
    if (item === false || isValidElement(item)) return [];
    if (Array.isArray(item)) return fieldsIn<T>(item);
    return "fields" in item ? fieldsIn(item.fields) : [item as unknown as AnyField];
  });

/** Names refused fields by their labels, and a part of a field by the field's label. Other refusals get no name. */
export function sayLabels(fields: readonly Pick<AnyField, "name" | "label" | "path" | "wording">[]): Say {
  return (refused, message) => {
    const found = fields.find(({ name, path = name }) => refused === path || refused.startsWith(`${path}.`));
    return found ? `${found.label}: ${found.wording?.(message) ?? message}` : message;
  };
}
