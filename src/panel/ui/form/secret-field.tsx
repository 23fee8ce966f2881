import { type Described, Field } from "./field.tsx";

interface Props extends Described {
  value: string;
  onValue: (value: string) => void;
  placeholder?: string;
  required?: boolean;
}

/**
 * A key or token that is stored here, shown as dots. It is a field for text: browsers fill a saved sign-in into a field
 * for passwords whatever its `autocomplete` says, and offer to keep what is typed there as the person's password.
 */
export const SecretField = ({ value, placeholder, required, onValue, ...about }: Props) => (
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
