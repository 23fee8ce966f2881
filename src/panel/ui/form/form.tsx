import { useSignal } from "@preact/signals";
import type { ComponentChildren, ComponentProps } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Form as State } from "../../data/form/form.ts";
import { Button } from "../button.tsx";
import { Dialog } from "../dialog/dialog.tsx";
import { Failure, Note } from "../note.tsx";
import { tell } from "../toast.tsx";
import { Fields } from "./fields.tsx";
import { type FieldTable, fieldsIn, sayLabels } from "./table.ts";

export type { Control, FieldOf, FieldTable, Row } from "./table.ts";

interface FormProps {
  onSubmit: () => void;
  /** Limits the width, so that lines are easy to read. */
  narrow?: boolean;
  /** Called at each input of the person. */
  onInput?: () => void;
  children: ComponentChildren;
}

/** Fields that a button or Enter sends. */
export const Form = ({ onSubmit, narrow = false, onInput, children }: FormProps) => (
  <form
    class={narrow ? "form narrow" : "form"}
    onInput={onInput}
    onSubmit={(event) => {
      event.preventDefault();
      onSubmit();
    }}
  >
    {children}
  </form>
);

interface Props<T extends object> {
  form: State<T>;
  fields: FieldTable<T>;
}

/** The problems of refused fields, by label. */
export const Refusal = <T extends object>({ form, fields }: Props<T>) => (
  <Failure error={form.error} say={sayLabels(fieldsIn(fields))} />
);

interface SendProps<T extends object>
  extends Props<T>,
    Pick<ComponentProps<typeof Button>, "look" | "small" | "disabled"> {
  /** The text of the button that sends the fields. */
  action: string;
  narrow?: boolean;
  /** Shown next to the button. */
  children?: ComponentChildren;
}

/** Fields that a button sends together. */
export const SendForm = <T extends object>({
  form,
  fields,
  action,
  narrow = false,
  children,
  ...button
}: SendProps<T>) => (
  <Form narrow={narrow} onSubmit={() => void form.save()}>
    <Fields form={form} fields={fields} />
    <Refusal form={form} fields={fields} />
    <div class="actions">
      <Button look="primary" {...button} type="submit" busy={form.busy}>
        {action}
      </Button>
      {children}
    </div>
  </Form>
);

interface SaveProps<T extends object> extends Props<T> {
  /** Shown next to the save button. */
  notice?: ComponentChildren;
  /** Shown below the fields. */
  children?: ComponentChildren;
}

/** Fields with their stored values. While there are changes, a bar is visible that saves or drops them. */
export function SaveForm<T extends object>({ form, fields, notice, children }: SaveProps<T>) {
  const save = async () => {
    // In a form with a single field, Enter sends it even without a button.
    if (form.dirty && (await form.save())) tell("Saved");
  };
  return (
    <Form onSubmit={() => void save()}>
      <Fields form={form} fields={fields} />
      {children}
      {(form.dirty || form.error !== undefined) && (
        <div class="save-bar">
          <Refusal form={form} fields={fields} />
          <SavedByOthers form={form} fields={fields} />
          {notice}
          <div class="actions">
            <Button look="primary" type="submit" busy={form.busy}>
              Save
            </Button>
            <Button disabled={form.busy} onClick={form.reset}>
              Discard
            </Button>
            <span class="soft">Changes are not saved yet.</span>
          </div>
        </div>
      )}
    </Form>
  );
}

/** Lists the changed fields in which somebody else saved a value meanwhile, since they may be out of sight. */
function SavedByOthers<T extends object>({ form, fields }: Props<T>) {
  const changed = fieldsIn(fields).filter(({ name }) => form.othersValue(name) !== undefined);
  if (changed.length === 0) return null;
  return (
    <Note look="warn">Somebody else has saved {changed.map(({ label }) => label).join(", ")} since you began.</Note>
  );
}

/** The callbacks of a dialog. */
export interface DialogProps {
  /** Called when the fields are stored and the dialog is closed. */
  onSaved: () => unknown;
  onClose: () => void;
}

interface FormDialogProps<T extends object> {
  title: string;
  wide?: boolean;
  form: State<T>;
  fields: FieldTable<T>;
  /** The text of the button that sends the fields. */
  action: string;
  /** The button's text while it works, if that takes long. */
  working?: string;
  /** Called when the fields are stored and the dialog is closed. Absent: the caller replaces the dialog. */
  onSaved?: () => unknown;
  /** Removes the dialog and its draft, which a reload keeps. */
  onClose: () => void;
}

/** Fields in a dialog, sent together. After typing, Escape must be pressed twice to close it. */
export function FormDialog<T extends object>(props: FormDialogProps<T>) {
  const { title, wide = false, form, fields, action, working, onSaved, onClose } = props;
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
  // On a small screen, the warning above the buttons may be out of sight.
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
