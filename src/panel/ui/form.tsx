import type { ComponentChildren } from "preact";

interface Props {
  onSubmit: () => void;
  /** No wider than is read well. */
  narrow?: boolean;
  children: ComponentChildren;
}

/** Fields that are sent together, by Enter too. */
export const Form = ({ onSubmit, narrow = false, children }: Props) => (
  <form
    class={narrow ? "form narrow" : "form"}
    onSubmit={(event) => {
      event.preventDefault();
      onSubmit();
    }}
  >
    {children}
  </form>
);
