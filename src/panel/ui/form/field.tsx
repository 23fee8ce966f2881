import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { useShownProblem } from "./shown-problems.ts";

export interface Described {
  label: string;
  /** Below the field: what it does, and what fits. */
  hint?: ComponentChildren | undefined;
  /** Why the value is refused. */
  problem?: string | undefined;
  optional?: boolean;
}

interface FieldProps extends Described {
  children: (ids: { id: string; "aria-describedby": string; "aria-invalid": boolean }) => ComponentChildren;
}

/** A label, a control and what is said about it. */
export function Field({ label, hint, problem, optional = false, children }: FieldProps) {
  const id = useId();
  const about = `${id}-about`;
  useShownProblem(id, label, problem);
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
    </div>
  );
}

interface Written extends Described {
  value: string;
  onValue: (value: string) => void;
  placeholder?: string;
  required?: boolean;
  minLength?: number;
  maxLength?: number;
}

/** A password is what a person signs in with here, so that the browser may keep it; other secrets are a `SecretField`. */
type Kind =
  | {
      type?: "text" | "email" | "url" | "number" | "search" | "date" | "datetime-local" | undefined;
      autocomplete?: string;
    }
  | { type: "password"; autocomplete: "current-password" | "new-password" };

type TextFieldProps = Written & Kind & Further;

interface Further {
  autocapitalize?: "none";
  spellcheck?: boolean;
  /** Has the focus once it is there. */
  autofocus?: boolean;
  pattern?: string;
  step?: number | "any";
  /** The id of a `datalist`. */
  list?: string;
}

export function TextField({ onValue, type = "text", autofocus = false, ...props }: TextFieldProps) {
  const [about, rest] = divide(props);
  const element = useRef<HTMLInputElement>(null);
  // Before the next paint, so that the focus leaves no other field in which somebody types already. A dialog that opens
  // only then goes by the attribute.
  useLayoutEffect(() => {
    if (autofocus) element.current?.focus();
  }, [autofocus]);
  return (
    <Field {...about}>
      {(ids) => (
        // The types of Preact allow a type of input only where it is known.
        <input
          ref={element}
          class="input"
          dir="auto"
          {...({ ...rest, type, autofocus } as object)}
          {...ids}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

interface TextAreaProps extends Written {
  rows?: number;
}

export function TextArea({ onValue, ...props }: TextAreaProps) {
  const [about, rest] = divide(props);
  return (
    <Field {...about}>
      {(ids) => (
        <textarea class="input" dir="auto" {...rest} {...ids} onInput={(event) => onValue(event.currentTarget.value)} />
      )}
    </Field>
  );
}

interface ChoiceProps extends Described {
  value: string;
  choices: readonly { value: string; label: string }[];
  onValue: (value: string) => void;
}

export function Choice({ value, choices, onValue, ...about }: ChoiceProps) {
  return (
    <Field {...about}>
      {(ids) => (
        <select class="input" {...ids} value={value} onChange={(event) => onValue(event.currentTarget.value)}>
          {choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {choice.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** Choices with one for all before them, and the chosen one where they lack it. */
export function choicesWith(all: string, choices: ChoiceProps["choices"], chosen: string): ChoiceProps["choices"] {
  const isKnown = chosen === "" || choices.some(({ value }) => value === chosen);
  return [{ value: "", label: all }, ...choices, ...(isKnown ? [] : [{ value: chosen, label: chosen }])];
}

interface SwitchProps extends Pick<Described, "label" | "hint"> {
  checked: boolean;
  onChecked: (checked: boolean) => void;
}

export function Switch({ label, hint, checked, onChecked }: SwitchProps) {
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
      </div>
    </div>
  );
}

/** What is said about a control, apart from the control's own attributes. */
function divide<Props extends Described>({ label, hint, problem, optional, ...rest }: Props) {
  const about: Described = { label, problem, ...(hint === undefined ? {} : { hint }), optional: optional === true };
  return [about, rest] as const;
}
