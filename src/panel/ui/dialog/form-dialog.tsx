import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Form as State } from "../../data/form.ts";
import { Button } from "../button.tsx";
import { Fields } from "../form/fields.tsx";
import { Form, Refusal } from "../form/form.tsx";
import type { FieldTable } from "../form/table.ts";
import { Note } from "../note.tsx";
import { Dialog } from "./dialog.tsx";

/** The ends of a dialog. */
export interface DialogProps {
  /** Called once the fields are stored, and the dialog is closed. */
  onSaved: () => unknown;
  onClose: () => void;
}

interface Props<T extends object> {
  title: string;
  wide?: boolean;
  form: State<T>;
  fields: FieldTable<T>;
  /** The text of the button that sends the fields. */
  action: string;
  /** Its text meanwhile, where that takes long. */
  working?: string;
  /** Called once the fields are stored, and the dialog is closed. Absent: the dialog becomes what came of it. */
  onSaved?: () => unknown;
  /** Takes the dialog away. A draft, which a reload keeps, is dropped. */
  onClose: () => void;
  /** Below the fields. */
  children?: ComponentChildren;
}

/** Fields in a dialog, sent together or not at all. Once something is typed, Escape closes it at the second time only. */
export function FormDialog<T extends object>(props: Props<T>) {
  const { title, wide = false, form, fields, action, working, onSaved, onClose, children } = props;
  const typed = useSignal(false);
  const warned = useSignal(false);
  const mayClose = () => {
    if (!typed.value || warned.value) return true;
    warned.value = true;
    return false;
  };
  const close = () => {
    form.reset();
    onClose();
  };
  const send = async () => {
    if (!(await form.save()) || !onSaved) return;
    void onSaved();
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
        onSubmit={() => void send()}
        onInput={() => {
          typed.value = true;
          warned.value = false;
        }}
      >
        <Fields form={form} fields={fields} />
        {children}
        <Refusal form={form} fields={fields} />
        {warned.value && <Note look="warn">Press Escape once more to close without saving.</Note>}
        <div class="actions" ref={actions}>
          <Button onClick={close}>Cancel</Button>
          <Button look="primary" type="submit" busy={form.busy}>
            {form.busy ? (working ?? action) : action}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
