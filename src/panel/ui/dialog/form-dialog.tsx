import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Say } from "../../data/refusal-text.ts";
import { Button } from "../button.tsx";
import { Form } from "../form/form.tsx";
import { Failure, Note } from "../note.tsx";
import { Dialog } from "./dialog.tsx";

interface Props {
  title: string;
  wide?: boolean;
  /** What sending the fields is called. */
  action: string;
  /** What the button says meanwhile, where that takes long. */
  working?: string;
  /**
   * Whether the fields are being sent, and why the server refused them; a `useForm` or a `useAction` has both. `reset` of
   * a `useForm` drops what was written: a reload keeps it, but who closes the dialog wants it no more.
   */
  state: { busy: boolean; error: unknown; reset?: () => void };
  /** Names refused fields where their paths say little. */
  say?: Say;
  onSubmit: () => void;
  onClose: () => void;
  children: ComponentChildren;
}

/** Fields in a dialog, sent together or not at all. Once something is typed, Escape closes it at the second time only. */
export function FormDialog({ title, wide = false, action, working, state, say, onSubmit, onClose, children }: Props) {
  const typed = useSignal(false);
  const warned = useSignal(false);
  const mayClose = () => {
    if (!typed.value || warned.value) return true;
    warned.value = true;
    return false;
  };
  const close = () => {
    state.reset?.();
    onClose();
  };
  const actions = useRef<HTMLDivElement>(null);
  // On a small screen the warning, which stands above the buttons, would be out of sight.
  useLayoutEffect(() => {
    if (warned.value) actions.current?.scrollIntoView({ block: "nearest" });
  }, [warned.value]);
  return (
    <Dialog title={title} wide={wide} mayClose={mayClose} onClose={close}>
      <Form
        onSubmit={onSubmit}
        onInput={() => {
          typed.value = true;
          warned.value = false;
        }}
      >
        {children}
        <Failure error={state.error} say={say} />
        {warned.value && <Note look="warn">Press Escape once more to close without saving.</Note>}
        <div class="actions" ref={actions}>
          <Button onClick={close}>Cancel</Button>
          <Button look="primary" type="submit" busy={state.busy}>
            {state.busy ? (working ?? action) : action}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
