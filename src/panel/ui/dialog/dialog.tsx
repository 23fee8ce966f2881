import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "../button.tsx";

interface Props {
  title: string;
  /** For long texts. */
  wide?: boolean;
  /** Whether Escape may close the dialog now; absent: always. */
  mayClose?: () => boolean;
  /** Adds a button with this text that closes the dialog. Absent: the children contain their own buttons. */
  close?: "Done" | "Close";
  /** Removes the dialog. */
  onClose: () => void;
  children: ComponentChildren;
}

/** A modal dialog, open while it is rendered. Escape closes it. */
export function Dialog({ title, wide = false, mayClose = () => true, close, onClose, children }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Before the next paint, so that no key reaches elements behind the dialog. Only a dialog that was closed returns the
  // focus to where it was.
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
        // A browser that closes a dialog itself reports that later, when the next dialog may already be open.
        event.preventDefault();
        if (mayClose()) onClose();
      }}
      // The browser may have closed the dialog; after its removal there is nothing left to do.
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
