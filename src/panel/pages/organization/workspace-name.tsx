import { useSignal } from "@preact/signals";
import { useAction } from "../../data/action.ts";
import { problemsOf } from "../../data/api.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Failure } from "../../ui/note.tsx";

interface Props {
  title: string;
  action: string;
  name: string;
  save: (name: string) => Promise<void>;
  onClose: () => void;
}

/** Asks for the name of a workspace. */
export function WorkspaceNameDialog({ title, action, name, save, onClose }: Props) {
  const typed = useSignal(name);
  const act = useAction(async () => {
    await save(typed.value);
    onClose();
  });
  return (
    <Dialog title={title} onClose={onClose}>
      <Form onSubmit={() => void act.run()}>
        <TextField
          label="Name"
          required
          autofocus
          maxLength={200}
          value={typed.value}
          problem={problemsOf(act.error).get("name")}
          onValue={(value) => {
            typed.value = value;
          }}
        />
        <Failure error={act.error} />
        <div class="actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" busy={act.busy}>
            {action}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
