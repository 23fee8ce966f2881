import type { ComponentChildren } from "preact";
import type { Form as State } from "../../data/form.ts";
import type { Say } from "../../data/refusal-text.ts";
import { Button } from "../button.tsx";
import { Failure } from "../note.tsx";
import { tell } from "../toast.tsx";
import { Form } from "./form.tsx";

interface Props<T extends object> {
  form: State<T>;
  /** Names refused fields where their paths say little. */
  say?: Say;
  /** A notice beside the button that saves. */
  notice?: ComponentChildren;
  children: ComponentChildren;
}

/** Fields that show what is stored. The bar that saves their changes, or drops them, is in sight while there are any. */
export function SaveForm<T extends object>({ form, say, notice, children }: Props<T>) {
  const save = async () => {
    // Enter in the only field of a form sends it without a button, too.
    if (form.dirty && (await form.save())) tell("Saved");
  };
  return (
    <Form onSubmit={() => void save()}>
      {children}
      {(form.dirty || form.error !== undefined) && <SaveBar form={form} say={say} notice={notice} />}
    </Form>
  );
}

interface BarProps<T extends object> {
  form: State<T>;
  say: Say | undefined;
  notice: ComponentChildren;
}

const SaveBar = <T extends object>({ form: { busy, error, reset }, say, notice }: BarProps<T>) => (
  <div class="save-bar">
    <Failure error={error} say={say} />
    {notice}
    <div class="actions">
      <Button look="primary" type="submit" busy={busy}>
        Save
      </Button>
      <Button disabled={busy} onClick={reset}>
        Discard
      </Button>
      <span class="soft">Changes are not saved yet.</span>
    </div>
  </div>
);
