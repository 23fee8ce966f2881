import { type ComponentChildren, isValidElement, type VNode } from "preact";
import type { PathOf, ValueAt } from "../../data/form/paths.ts";
import type { Say } from "../../data/refusal-text.ts";
import type { Choices } from "./choices.ts";

/** Attributes of some fields' inputs. */
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
  /** Takes the focus when it appears. */
  autofocus?: boolean;
}

/** The control of a custom field. */
export interface Control<Value> {
  value: Value;
  problem: string | undefined;
  onValue: (value: Value) => void;
}

/** A password is the person's own for signing in, which the browser may store; for other secrets use the kind `secret`. */
type TextKind =
  /** `suggestions` are offered while a person types. */
  | (Attributes & { kind?: "text" | "secret"; suggestions?: readonly string[] })
  | (Attributes & { kind: "password"; autocomplete: "current-password" | "new-password" })
  | (Attributes & { kind: "area"; rows?: number })
  | { kind: "choice"; choices: Choices };

/** `lines` shows one item in each line instead of commas. */
type ListKind = { kind: "list"; lines?: boolean };

/**
 * The kinds of fields for a type of value. For a nullable value, `empty` says whether an empty text is stored as null.
 */
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
  /** Whether the field may stay empty. An empty required number is NaN. */
  optional?: boolean;
  /** False: the field is hidden, but refusals still use its label. */
  shown?: boolean;
  /** The API's path of the field, if it is not its name. */
  path?: string;
  /** Rewords the API's refusal. */
  wording?: (message: string) => string;
  /** A problem that the panel itself found. */
  problem?: string | undefined;
}

/** A field of a form over `T`: its path in the values, its label, and its kind. */
export type FieldOf<T> = {
  [Name in PathOf<T>]: About & { name: Name } & KindOf<ValueAt<T, Name>> & {
      /** Changes to make together with a change of this field. */
      also?(value: ValueAt<T, Name>): Partial<T>;
    };
}[PathOf<T>];

/** Fields with a heading. */
interface Section<T> {
  title: string;
  lead?: string;
  fields: FieldTable<T>;
}

/** The fields of a form from top to bottom; those in an inner list side by side. An element is rendered in place. */
export type FieldTable<T> = readonly (FieldOf<T> | Row<T> | Section<T> | VNode | false)[];

/** Fields side by side. */
export type Row<T> = readonly (FieldOf<T> | VNode | false)[];

/** A field to render, whatever the type of its form. */
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

/** All fields of a table, including hidden ones. */
export const fieldsIn = <T>(fields: FieldTable<T>): AnyField[] =>
  fields.flatMap((item): AnyField[] => {
    if (item === false || isValidElement(item)) return [];
    if (Array.isArray(item)) return fieldsIn<T>(item);
    return "fields" in item ? fieldsIn(item.fields) : [item as unknown as AnyField];
  });

/** Gives refused fields their labels as names; a part of a field gets the field's label. Other refusals get no name. */
export function sayLabels(fields: readonly Pick<AnyField, "name" | "label" | "path" | "wording">[]): Say {
  return (refused, message) => {
    const found = fields.find(({ name, path = name }) => refused === path || refused.startsWith(`${path}.`));
    return found ? `${found.label}: ${found.wording?.(message) ?? message}` : message;
  };
}
