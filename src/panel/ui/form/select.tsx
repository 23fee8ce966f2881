interface Props<Value extends string> {
  /** What is chosen, for those who hear the page. */
  label: string;
  value: Value | undefined;
  choices: readonly { value: Value; label: string }[];
  disabled?: boolean;
  onValue: (value: Value) => void;
}

/** A choice whose place says what it is: in a row of a table, say. */
export const Select = <Value extends string>({ label, value, choices, disabled = false, onValue }: Props<Value>) => (
  <select
    class="input"
    aria-label={label}
    value={value}
    disabled={disabled}
    onChange={(event) => onValue(event.currentTarget.value as Value)}
  >
    {choices.map((choice) => (
      <option key={choice.value} value={choice.value}>
        {choice.label}
      </option>
    ))}
  </select>
);
