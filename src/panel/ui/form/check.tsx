import type { ComponentChildren } from "preact";
import { useChoice } from "../../data/form/choice.ts";
import { tellFailure } from "../toast.tsx";

interface Props {
  checked: boolean;
  disabled?: boolean;
  onChecked: (checked: boolean) => void;
  children: ComponentChildren;
}

/** A box with a text next to it. */
export const Check = ({ checked, disabled = false, onChecked, children }: Props) => (
  <label class="check">
    <input
      type="checkbox"
      checked={checked}
      disabled={disabled}
      onChange={(event) => onChecked(event.currentTarget.checked)}
    />
    <span>{children}</span>
  </label>
);

interface StoredProps {
  stored: boolean;
  /** Stores the choice, as `useChoice` requires. */
  store: (checked: boolean) => Promise<void>;
  children: ComponentChildren;
}

/** A box whose change is stored at once. */
export function StoredCheck({ stored, store, children }: StoredProps) {
  const { chosen, choose } = useChoice(stored, store);
  return (
    <Check checked={chosen} onChecked={(checked) => void choose(checked).catch(tellFailure)}>
      {children}
    </Check>
  );
}
