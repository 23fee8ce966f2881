import type { ComponentChildren } from "preact";
import { useChoice } from "../../data/choice.ts";
import { tellFailure } from "../toast.tsx";

interface Props {
  stored: boolean;
  /** As for `useChoice`. */
  store: (checked: boolean) => Promise<void>;
  children: ComponentChildren;
}

/** A box that is stored as soon as it is ticked or cleared. */
export function StoredBox({ stored, store, children }: Props) {
  const { chosen, choose } = useChoice(stored, store);
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={chosen}
        onChange={(event) => void choose(event.currentTarget.checked).catch(tellFailure)}
      />
      <span>{children}</span>
    </label>
  );
}
