import { useSignal } from "@preact/signals";
import type { ComponentChildren, ComponentProps, VNode } from "preact";
import { Button } from "../button.tsx";
import { tell } from "../toast.tsx";
import { Confirm } from "./confirm.tsx";

interface OpenProps extends Omit<ComponentProps<typeof Button>, "onClick"> {
  dialog: (close: () => void) => VNode | null;
}

/** A button that opens a dialog. */
export function DialogButton({ dialog, ...button }: OpenProps) {
  const open = useSignal(false);
  return (
    <>
      <Button
        {...button}
        onClick={() => {
          open.value = true;
        }}
      />
      {open.value &&
        dialog(() => {
          open.value = false;
        })}
    </>
  );
}

interface ConfirmProps {
  /** The text of the button. */
  label: ComponentChildren;
  small?: boolean;
  /** The question. */
  title: string;
  /** The text of the dialog's button. */
  action: string;
  /** A word that must be typed first. */
  word?: string;
  onConfirm: () => Promise<unknown>;
  /** The toast after the action. */
  said?: string;
  /** Called after the action, to show the new state. */
  onDone?: () => unknown;
  /** The consequences of the action. */
  children: ComponentChildren;
}

/** A button that asks before an action that can't be undone. All of these look alike. */
export function ConfirmButton({ label, small = false, onConfirm, said, onDone, ...dialog }: ConfirmProps) {
  const confirm = async () => {
    await onConfirm();
    if (said !== undefined) tell(said);
    await onDone?.();
  };
  return (
    <DialogButton
      look="danger"
      small={small}
      dialog={(close) => <Confirm {...dialog} onConfirm={confirm} onClose={close} />}
    >
      {label}
    </DialogButton>
  );
}

interface DeleteProps extends Omit<ConfirmProps, "label" | "title" | "action" | "said"> {
  label?: string;
  name: string;
  /** The noun for the kind of item, such as `task`. */
  kind: string;
}

/** Deletes a named item. */
export const DeleteButton = ({ label = "Delete", name, kind, ...rest }: DeleteProps) => (
  <ConfirmButton
    {...rest}
    label={label}
    title={`Delete ${name}?`}
    action={`Delete the ${kind}`}
    said={`${name} is deleted`}
  />
);
