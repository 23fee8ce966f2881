import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";

interface Props {
  title: string;
  /** For what is long to read. */
  wide?: boolean;
  onClose: () => void;
  children: ComponentChildren;
}

/** A modal dialog; it is open while it is rendered. Escape closes it. */
export function Dialog({ title, wide = false, onClose, children }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Before the next paint, so that no key goes to what is behind the dialog.
  useLayoutEffect(() => {
    element.current?.showModal();
  }, []);
  return (
    <dialog class={wide ? "dialog wide" : "dialog"} ref={element} aria-labelledby={id} onClose={onClose}>
      <div class="dialog-body">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}
