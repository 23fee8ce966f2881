import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { TextField } from "./field.tsx";
import { Failure } from "./note.tsx";

interface Props {
  title: string;
  /** What will be gone. */
  children: ComponentChildren;
  /** What the button says, such as `Delete the agent`. */
  action: string;
  /** With it, this has to be typed first. */
  word?: string;
  onConfirm: () => Promise<void>;
  onClose: () => void;
}

/** Asks before something is destroyed. */
export function Confirm({ title, children, action, word, onConfirm, onClose }: Props) {
  const typed = useSignal("");
  const busy = useSignal(false);
  const error = useSignal<unknown>(undefined);
  const act = async () => {
    busy.value = true;
    try {
      await onConfirm();
      onClose();
    } catch (reason) {
      error.value = reason;
    } finally {
      busy.value = false;
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <div>{children}</div>
      {word !== undefined && (
        <TextField
          label={`Type ${word} to go on`}
          value={typed.value}
          autocomplete="off"
          onValue={(value) => {
            typed.value = value;
          }}
        />
      )}
      <Failure error={error.value} />
      <div class="actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button look="danger" busy={busy.value} disabled={word !== undefined && typed.value !== word} onClick={act}>
          {action}
        </Button>
      </div>
    </Dialog>
  );
}
