import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import type { Choices } from "./choices.ts";
import type { Attributes } from "./table.ts";

export interface Described {
  label: string;
  /** Below the field: what it does, and what fits. */
  hint?: ComponentChildren;
  /** Why the value is refused. */
  problem?: string | undefined;
  optional?: boolean | undefined;
  /** Below all of it, such as what somebody else saved meanwhile. */
  after?: ComponentChildren;
}

interface FieldProps extends Described {
  children: (ids: { id: string; "aria-describedby": string; "aria-invalid": boolean }) => ComponentChildren;
}

/** A label, a control and what is said about it. */
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

interface Written extends Described, Omit<Attributes, "type"> {
  value: string;
  onValue: (value: string) => void;
}

interface TextFieldProps extends Written {
  type?: Attributes["type"] | "password" | "number" | "search" | "date";
  step?: number | "any" | undefined;
  /** Offered while somebody types. */
  suggestions?: readonly string[] | undefined;
}

export function TextField({ onValue, type = "text", autofocus = false, suggestions, ...props }: TextFieldProps) {
  const [about, rest] = divide(props);
  const element = useRef<HTMLInputElement>(null);
  const list = useId();
  // Before the next paint, so that the focus leaves no other field in which somebody types already. A dialog that opens
  // only then goes by the attribute.
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
            // The types of Preact allow a type of input only where it is known.
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

export function TextArea({ onValue, ...props }: Written & { rows?: number }) {
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
 * A key or token that is stored here, shown as dots. It is a field for text: browsers fill a saved sign-in into a field
 * for passwords whatever its `autocomplete` says, and offer to keep what is typed there as the person's password.
 */
export const SecretField = ({ onValue, ...props }: Written) => {
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

interface ChoiceProps extends Described {
  value: string;
  choices: Choices;
  onValue: (value: string) => void;
}

export const Choice = ({ value, choices, onValue, ...about }: ChoiceProps) => (
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

interface SwitchProps extends Pick<Described, "label" | "hint" | "after"> {
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

/** What is said about a control, apart from the control's own attributes. */
function divide<Props extends Described>({ label, hint, problem, optional, after, ...rest }: Props) {
  return [{ label, hint, problem, optional, after }, rest] as const;
}
