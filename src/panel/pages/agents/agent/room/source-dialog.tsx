import { useSignal } from "@preact/signals";
import type { EventSource } from "../../../../../client/index.ts";
import { useAction } from "../../../../data/action.ts";
import { api, problemsOf } from "../../../../data/api.ts";
import { FormDialog } from "../../../../ui/dialog/form-dialog.tsx";
import { Choice, Switch, TextField } from "../../../../ui/form/field.tsx";
import { SecretField } from "../../../../ui/form/secret-field.tsx";
import { tell } from "../../../../ui/toast.tsx";
import { senderOf, senders } from "./senders.tsx";

interface Props {
  slug: string;
  /** Null: a new one. */
  source: EventSource | null;
  onSaved: () => void;
  onClose: () => void;
}

/** The kind of a source that nobody gave another one. */
const usual = "webhook";

/** Makes or changes a source. Its key is sent where one was typed, and never comes back. */
export function SourceDialog({ slug, source, onSaved, onClose }: Props) {
  const values = useSignal({
    name: source?.name ?? "",
    sourceType: source?.sourceType ?? usual,
    authKey: "",
    open: source ? !source.authKeyConfigured : true,
  });
  const { name, sourceType, authKey, open } = values.value;
  const sender = senderOf(sourceType);
  const choose = (kind: string) => {
    const { label, bringsKey } = senderOf(kind);
    const named = name === "" || senders.some((one) => one.label === name);
    set({ sourceType: kind, ...(named && { name: kind === usual ? "" : label }), ...(!bringsKey && { open: true }) });
  };
  const set = (changes: Partial<typeof values.value>) => {
    values.value = { ...values.value, ...changes };
  };
  const save = useAction(async () => {
    const key = open ? { authKey: null } : authKey === "" ? {} : { authKey };
    const body = { name, sourceType, ...key };
    if (source) await api.updateEventSource({ slug, id: source.id, body });
    else await api.createEventSource({ slug, body });
    tell(source ? "Saved" : `${name} has its address now`);
    onSaved();
    onClose();
  });
  const problems = problemsOf(save.error);
  return (
    <FormDialog
      title={source ? `Edit ${source.name}` : "New event source"}
      action={source ? "Save" : "Create"}
      state={save}
      onSubmit={() => void save.run()}
      onClose={onClose}
    >
      <Choice
        label="What sends the events"
        value={sender.sourceType}
        choices={senders.map(({ sourceType: value, label }) => ({ value, label }))}
        onValue={choose}
      />
      <TextField
        label="Name"
        required
        autofocus
        placeholder="Shop"
        value={name}
        problem={problems.get("name")}
        onValue={(text) => set({ name: text })}
      />
      {sender.sourceType === usual && (
        <TextField
          label="Kind"
          required
          hint="In a word of your own, such as shop or form."
          value={sourceType}
          problem={problems.get("sourceType")}
          onValue={(text) => set({ sourceType: text })}
        />
      )}
      {sender.bringsKey || !open ? (
        <Switch
          label="Calls must bring a key"
          hint="As Authorization: Bearer …. Without one the address is the only credential."
          checked={!open}
          onChecked={(checked) => set({ open: !checked })}
        />
      ) : (
        <p class="soft">{sender.label} brings no key with its calls: the address is the only credential.</p>
      )}
      {!open && (
        <SecretField
          label="Key"
          required={source?.authKeyConfigured !== true}
          hint={source?.authKeyConfigured ? "One is stored. Leave it empty to keep it." : undefined}
          value={authKey}
          problem={problems.get("authKey")}
          onValue={(text) => set({ authKey: text })}
        />
      )}
    </FormDialog>
  );
}
