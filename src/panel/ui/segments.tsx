interface Props<Value extends string> {
  /** The name of the choice, for screen readers. */
  label: string;
  value: Value;
  choices: readonly { value: Value; label: string }[];
  onValue: (value: Value) => void;
}

/** A choice of few values, side by side. */
export const Segments = <Value extends string>({ label, value, choices, onValue }: Props<Value>) => (
  <fieldset class="segments">
    <legend class="unseen">{label}</legend>
    {choices.map((one) => (
      <button
        key={one.value}
        type="button"
        class="button small"
        aria-pressed={one.value === value}
        onClick={() => onValue(one.value)}
      >
        {one.label}
      </button>
    ))}
  </fieldset>
);
