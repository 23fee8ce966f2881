import { useSignal } from "@preact/signals";
import { useAction } from "../../data/action.ts";
import { problemsOf } from "../../data/api.ts";
import { FormDialog } from "../../ui/dialog/form-dialog.tsx";
import { TextField } from "../../ui/form/field.tsx";

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
    <FormDialog title={title} action={action} state={act} onSubmit={() => void act.run()} onClose={onClose}>
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
    </FormDialog>
  );
}
