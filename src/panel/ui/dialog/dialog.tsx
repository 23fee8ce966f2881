import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "../button.tsx";

interface Props {
  title: string;
  /** For what is long to read. */
  wide?: boolean;
  /** Whether Escape may close it now; always where this is absent. */
  mayClose?: () => boolean;
  /** Adds a button with this text that closes the dialog. Absent: the children bring their own buttons. */
  close?: "Done" | "Close";
  /** Takes the dialog away. */
  onClose: () => void;
  children: ComponentChildren;
}

/** A modal dialog; it is open while it is rendered. Escape closes it. */
export function Dialog({ title, wide = false, mayClose = () => true, close, onClose, children }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Before the next paint, so that no key goes to what is behind the dialog. Only a dialog that is closed gives the
  // focus back to the element that had it.
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      class={wide ? "dialog wide" : "dialog"}
      ref={element}
      aria-labelledby={id}
      onCancel={(event) => {
        if (event.target !== element.current) return;
        // A browser that closes the dialog itself says so later, when the next one may be open already.
        event.preventDefault();
        if (mayClose()) onClose();
      }}
      // A browser may close the dialog unasked; once it is taken away, nothing is left to do.
      onClose={() => element.current && onClose()}
    >
      <div class="dialog-body">
        <h2 id={id}>{title}</h2>
        {children}
        {close && (
          <div class="actions">
            <Button look={close === "Done" ? "primary" : undefined} onClick={onClose}>
              {close}
            </Button>
          </div>
        )}
      </div>
    </dialog>
  );
}
