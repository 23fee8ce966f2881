import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useAction } from "../../data/form/action.ts";
import { Button } from "../button.tsx";
import { TextField } from "../form/field.tsx";
import { Failure } from "../note.tsx";
import { Dialog } from "./dialog.tsx";

interface Props {
  title: string;
  /** The consequences of the action. */
  children: ComponentChildren;
  /** The text of the button, such as `Delete the agent`. */
  action: string;
  /** A word that must be typed first. */
  word?: string;
  onConfirm: () => Promise<void>;
  onClose: () => void;
}

/** Asks before a destructive action. */
export function Confirm({ title, children, action, word, onConfirm, onClose }: Props) {
  const typed = useSignal("");
  const act = useAction(async () => {
    await onConfirm();
    onClose();
  });
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
      <Failure error={act.error} />
      <div class="actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button
          look="danger"
          busy={act.busy}
          disabled={word !== undefined && typed.value !== word}
          onClick={() => void act.run()}
        >
          {action}
        </Button>
      </div>
    </Dialog>
  );
}
