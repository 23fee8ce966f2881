import { useSignal } from "@preact/signals";
import type { ComponentProps, VNode } from "preact";
import { Button } from "../button.tsx";

interface Props extends Omit<ComponentProps<typeof Button>, "onClick"> {
  dialog: (close: () => void) => VNode | null;
}

/** A button that opens a dialog. */
export function DialogButton({ dialog, ...button }: Props) {
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
