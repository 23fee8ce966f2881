import type { ComponentChildren } from "preact";
import type { Form as State } from "../../data/form.ts";
import { Button, type Look } from "../button.tsx";
import { Failure, Note } from "../note.tsx";
import { tell } from "../toast.tsx";
import { Fields } from "./fields.tsx";
import { type FieldTable, fieldsIn, sayLabels } from "./table.ts";

interface FormProps {
  onSubmit: () => void;
  /** No wider than is read well. */
  narrow?: boolean;
  /** Called when somebody types or chooses something. */
  onInput?: () => void;
  children: ComponentChildren;
}

/** Sends what is in it by a button, and by Enter too. */
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

/** Why the fields were refused, by their labels. */
export const Refusal = <T extends object>({ form, fields }: Props<T>) => (
  <Failure error={form.error} say={sayLabels(fieldsIn(fields))} />
);

interface SendProps<T extends object> extends Props<T> {
  /** The text of the button that sends the fields. */
  action: string;
  look?: Look;
  small?: boolean;
  disabled?: boolean;
  narrow?: boolean;
  /** Beside the button. */
  children?: ComponentChildren;
}

/** Fields that are sent together by a button. */
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
  /** Beside the button that saves. */
  notice?: ComponentChildren;
  /** Below the fields. */
  children?: ComponentChildren;
}

/** Fields that show what is stored. The bar that saves their changes, or drops them, is in sight while there are any. */
export function SaveForm<T extends object>({ form, fields, notice, children }: SaveProps<T>) {
  const save = async () => {
    // Enter in the only field of a form sends it without a button, too.
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

/** Names the changed fields in which somebody else has saved something meanwhile: they may be out of sight. */
export function SavedByOthers<T extends object>({ form, fields }: Props<T>) {
  const changed = fieldsIn(fields).filter(({ name }) => form.othersValue(name) !== undefined);
  if (changed.length === 0) return null;
  return (
    <Note look="warn">Somebody else has saved {changed.map(({ label }) => label).join(", ")} since you began.</Note>
  );
}
