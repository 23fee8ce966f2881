import type { ComponentChildren } from "preact";
import { ShownProblems, useShownProblems } from "./shown-problems.ts";

interface Props {
  onSubmit: () => void;
  /** No wider than is read well. */
  narrow?: boolean;
  /** Called when somebody types or chooses something. */
  onInput?: () => void;
  children: ComponentChildren;
}

/** Fields that are sent together, by Enter too. */
export const Form = ({ onSubmit, narrow = false, onInput, children }: Props) => (
  <ShownProblems.Provider value={useShownProblems()}>
    <form
      class={narrow ? "form narrow" : "form"}
      onInput={onInput}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
    </form>
  </ShownProblems.Provider>
);
