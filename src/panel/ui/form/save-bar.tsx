import type { Form } from "../../data/form.ts";
import { Button } from "../button.tsx";
import { Failure } from "../note.tsx";
import { tell } from "../toast.tsx";

/** Saves a form or drops its changes; in sight while there are any. */
export function SaveBar<T extends object>({ form }: { form: Form<T> }) {
  if (!form.dirty && form.error === undefined) return null;
  const save = async () => {
    if (await form.save()) tell("Saved");
  };
  return (
    <div class="save-bar">
      <Failure error={form.error} />
      <div class="actions">
        <Button look="primary" busy={form.busy} onClick={() => void save()}>
          Save
        </Button>
        <Button disabled={form.busy} onClick={form.reset}>
          Discard
        </Button>
        <span class="soft">Changes are not saved yet.</span>
      </div>
    </div>
  );
}
