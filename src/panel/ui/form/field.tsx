import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren, SelectHTMLAttributes } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { isDate } from "../../data/days.ts";
import { itemsIn, textOf } from "../../data/text.ts";
import type { Choices } from "./choices.ts";
import type { Attributes } from "./table.ts";

interface FieldAbout {
  label: string;
  /** Help below the field. */
  hint?: ComponentChildren;
  /** Why the value is refused. */
  problem?: string | undefined;
  optional?: boolean | undefined;
  /** Shown below the help, such as a value that somebody else saved meanwhile. */
  after?: ComponentChildren;
}

interface FieldProps extends FieldAbout {
  children: (ids: { id: string; "aria-describedby": string; "aria-invalid": boolean }) => ComponentChildren;
}

/** A label and a control, with help and a problem below. */
function Field({ label, hint, problem, optional = false, after, children }: FieldProps) {
  const id = useId();
  const about = `${id}-about`;
  return (
    <div class="field">
      <label for={id}>
        {label} {optional && <span class="optional">(optional)</span>}
      </label>
      {children({ id, "aria-describedby": about, "aria-invalid": problem !== undefined })}
      <div id={about}>
        {problem !== undefined && <p class="wrong">{problem}</p>}
        {hint !== undefined && <p class="hint">{hint}</p>}
      </div>
      {after}
    </div>
  );
}

interface TypedProps extends FieldAbout, Omit<Attributes, "type"> {
  value: string;
  onValue: (value: string) => void;
}

interface TextFieldProps extends TypedProps {
  type?: Attributes["type"] | "password" | "number" | "search" | "date";
  step?: number | "any" | undefined;
  /** Values that are offered while a person types. */
  suggestions?: readonly string[] | undefined;
}

export function TextField({ onValue, type = "text", autofocus = false, suggestions, ...props }: TextFieldProps) {
  const [about, rest] = divide(props);
  const element = useRef<HTMLInputElement>(null);
  const list = useId();
  // Before the next paint, so that the focus is not taken from another field. A dialog that opens later uses the
  // attribute.
  useLayoutEffect(() => {
    if (autofocus) element.current?.focus();
  }, [autofocus]);
  return (
    <Field {...about}>
      {(ids) => (
        <>
          <input
            ref={element}
            class="input"
            dir="auto"
            // Preact's types allow only known types of input.
            {...({ ...rest, type, autofocus, list: suggestions && list } as object)}
            {...ids}
            onInput={(event) => onValue(event.currentTarget.value)}
          />
          {suggestions && (
            <datalist id={list}>
              {suggestions.map((value) => (
                <option key={value} value={value} />
              ))}
            </datalist>
          )}
        </>
      )}
    </Field>
  );
}

export function TextArea({ onValue, ...props }: TypedProps & { rows?: number }) {
  const [about, rest] = divide(props);
  return (
    <Field {...about}>
      {(ids) => (
        <textarea class="input" dir="auto" {...rest} {...ids} onInput={(event) => onValue(event.currentTarget.value)} />
      )}
    </Field>
  );
}

/**
 * A key or token to store, shown as dots. A text field: into password fields browsers fill saved passwords, whatever
 * `autocomplete` says, and they offer to store what is typed as the person's password.
 */
export const SecretField = ({ onValue, ...props }: TypedProps) => {
  const [about, { value, placeholder, required }] = divide(props);
  return (
    <Field {...about}>
      {(ids) => (
        <input
          class="input secret"
          type="text"
          dir="ltr"
          autocomplete="off"
          autocapitalize="none"
          autocorrect="off"
          spellcheck={false}
          {...{ value, placeholder, required }}
          {...ids}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  );
};

interface ChoiceProps extends FieldAbout {
  value: string;
  choices: Choices;
  onValue: (value: string) => void;
}

export const Choice = ({ value, choices, onValue, ...about }: ChoiceProps) => (
  <Field {...about}>{(ids) => <Options {...ids} value={value} choices={choices} onValue={onValue} />}</Field>
);

interface SignalProps<Value extends string> extends FieldAbout {
  of: Signal<Value>;
  choices: readonly { value: Value; label: string }[];
}

/** A choice stored in a signal. */
export const SignalChoice = <Value extends string>({ of, ...props }: SignalProps<Value>) => (
  <Choice
    {...props}
    value={of.value}
    onValue={(value) => {
      of.value = value as Value;
    }}
  />
);

/** A choice without a visible label, such as in a row of a table. Screen readers read the label. */
export const Select = ({ label, ...options }: ChoiceProps) => <Options {...options} aria-label={label} />;

type OptionsProps = Pick<ChoiceProps, "value" | "choices" | "onValue"> & SelectHTMLAttributes<HTMLSelectElement>;

const Options = ({ value, choices, onValue, ...rest }: OptionsProps) => (
  <select {...rest} class="input" value={value} onChange={(event) => onValue(event.currentTarget.value)}>
    {choices.map((choice) => (
      <option key={choice.value} value={choice.value}>
        {choice.label}
      </option>
    ))}
  </select>
);

interface SwitchProps extends Pick<FieldAbout, "label" | "hint" | "after"> {
  checked: boolean;
  onChecked: (checked: boolean) => void;
}

export function Switch({ label, hint, after, checked, onChecked }: SwitchProps) {
  const id = useId();
  return (
    <div class="switch">
      <input
        id={id}
        type="checkbox"
        checked={checked}
        aria-describedby={`${id}-about`}
        onChange={(event) => onChecked(event.currentTarget.checked)}
      />
      <div class="field">
        <label for={id}>{label}</label>
        {hint !== undefined && (
          <p class="hint" id={`${id}-about`}>
            {hint}
          </p>
        )}
        {after}
      </div>
    </div>
  );
}

/** A day in UTC, such as `2026-11-21`, or none. Incomplete dates are not passed on. */
export const DayField = ({ onValue, ...props }: Pick<TypedProps, "label" | "problem" | "value" | "onValue">) => (
  <TextField {...props} type="date" onValue={(day) => (day === "" || isDate(day)) && onValue(day)} />
);

interface NumberProps extends FieldAbout {
  step?: "any" | undefined;
  /** NaN: a required number is missing. As JSON it is null, which the API refuses. */
  value: number | null;
  onNumber: (value: number | null) => void;
}

export function NumberField({ optional = false, value, problem, onNumber, ...rest }: NumberProps) {
  // In a draft that was restored from JSON, NaN has become null.
  const isEmpty = value === null || Number.isNaN(value);
  return (
    <TextField
      {...rest}
      type="number"
      optional={optional}
      required={!optional}
      problem={problem ?? (isEmpty && !optional ? "A number is needed here." : undefined)}
      value={isEmpty ? "" : String(value)}
      onValue={(text) => onNumber(text.trim() !== "" ? Number(text) : optional ? null : Number.NaN)}
    />
  );
}

interface ListProps extends FieldAbout {
  /** Whether to show one item in each line instead of commas. */
  lines?: boolean | undefined;
  items: readonly string[];
  onItems: (items: string[]) => void;
}

/** A list written as text. The text stays as typed. */
export function ListField({ lines = false, items, onItems, ...rest }: ListProps) {
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

/** Separates a control's label, help and problem from its attributes. */
function divide<Props extends FieldAbout>({ label, hint, problem, optional, after, ...rest }: Props) {
  return [{ label, hint, problem, optional, after }, rest] as const;
}
