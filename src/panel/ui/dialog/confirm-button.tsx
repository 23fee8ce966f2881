import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Button } from "../button.tsx";
import { Confirm } from "./confirm.tsx";

interface Props {
  /** What the button says. */
  label: ComponentChildren;
  small?: boolean;
  /** The question. */
  title: string;
  /** What the button of the dialog says. */
  action: string;
  /** With it, this has to be typed first. */
  word?: string;
  onConfirm: () => Promise<void>;
  /** What will be gone, or change. */
  children: ComponentChildren;
}

/** A button that asks before it does something that can't be undone. All of these look alike. */
export function ConfirmButton({ label, small = false, children, ...dialog }: Props) {
  const asks = useSignal(false);
  return (
    <>
      <Button
        look="danger"
        small={small}
        onClick={() => {
          asks.value = true;
        }}
      >
        {label}
      </Button>
      {asks.value && (
        <Confirm
          {...dialog}
          onClose={() => {
            asks.value = false;
          }}
        >
          {children}
        </Confirm>
      )}
    </>
  );
}
