import type { ComponentChildren } from "preact";
import { useChoice } from "../../data/form/choice.ts";
import { tellFailure } from "../toast.tsx";

interface Props {
  checked: boolean;
  disabled?: boolean;
  onChecked: (checked: boolean) => void;
  children: ComponentChildren;
}

/** A box with words beside it. */
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
  /** As for `useChoice`. */
  store: (checked: boolean) => Promise<void>;
  children: ComponentChildren;
}

/** A box that is stored as soon as it is ticked or cleared. */
export function StoredCheck({ stored, store, children }: StoredProps) {
  const { chosen, choose } = useChoice(stored, store);
  return (
    <Check checked={chosen} onChecked={(checked) => void choose(checked).catch(tellFailure)}>
      {children}
    </Check>
  );
}
