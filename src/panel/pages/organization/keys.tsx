import { useSignal } from "@preact/signals";
import type { CreatedManagementKey } from "../../../client/index.ts";
import { api, serverUrl } from "../../data/api.ts";
import { useForm } from "../../data/form/form.ts";
import { useList } from "../../data/list/list.ts";
import { orgSlug } from "../../data/session.ts";
import { DeleteButton } from "../../ui/dialog/buttons.tsx";
import { Dialog } from "../../ui/dialog/dialog.tsx";
import { choicesOf } from "../../ui/form/choices.ts";
import { type FieldTable, FormDialog } from "../../ui/form/form.tsx";
import { ListPage } from "../../ui/list/list.tsx";
import { Code } from "../../ui/text/code.tsx";
import { ShownOnce } from "../../ui/text/shown-once.tsx";
import { Time } from "../../ui/text/time.tsx";

/** The organization's management keys, with which programs configure agents. */
export function KeysPage() {
  const slug = orgSlug.value;
  const keys = useList("managementKeys", () => api.listManagementKeys({ orgSlug: slug }), [slug]);
  return (
    <ListPage
      title="Management keys"
      lead="For programs that set agents up: a key holds what an Owner may do, except for issuing keys and making Owners."
      of={keys}
      empty={[
        "No keys yet",
        "A pipeline that applies agents as files needs one. People who chat with an agent need the agent's own key.",
      ]}
      add={{ label: "New key" }}
      dialog={(_, { onSaved, onClose }) => <NewKey onCreated={onSaved} onClose={onClose} />}
      label="Management keys"
      keyOf={({ id }) => id}
      about={({ prefix }) => <code>{prefix}…</code>}
      columns={[
        { title: "Key", cell: ({ name }) => name },
        { title: "Created", cell: ({ createdAt }) => <Time at={createdAt} /> },
        { title: "Last used", cell: ({ lastUsedAt }) => timeOrNever(lastUsedAt) },
        { title: "Expires", cell: ({ expiresAt }) => timeOrNever(expiresAt) },
      ]}
      actions={({ id, name }) => (
        <DeleteButton
          small
          name={name}
          kind="key"
          onConfirm={() => api.deleteManagementKey({ orgSlug: slug, id })}
          onDone={keys.reload}
        >
          Programs with this key are refused from then on.
        </DeleteButton>
      )}
    />
  );
}

const timeOrNever = (at: string | null) => (at === null ? "never" : <Time at={at} />);

const fields: FieldTable<{ name: string; days: string }> = [
  {
    name: "name",
    label: "Name",
    hint: "What it is for, such as the pipeline that uses it.",
    required: true,
    autofocus: true,
    maxLength: 200,
  },
  {
    name: "days",
    label: "Lives for",
    path: "expiresAt",
    kind: "choice",
    choices: choicesOf({ "30": "30 days", "90": "90 days", "365": "One year", "": "Does not expire" }),
  },
];

function NewKey({ onCreated, onClose }: { onCreated: () => void; onClose: () => void }) {
  const made = useSignal<CreatedManagementKey | null>(null);
  const form = useForm("new-key", { name: "", days: "90" }, async () => {
    const { name, days } = form.values;
    const expiresAt = days === "" ? null : new Date(Date.now() + Number(days) * 86_400_000).toISOString();
    made.value = await api.createManagementKey({ orgSlug: orgSlug.value, body: { name, expiresAt } });
    onCreated();
  });
  if (made.value) return <Made made={made.value} onClose={onClose} />;
  return <FormDialog title="New management key" action="Create" form={form} fields={fields} onClose={onClose} />;
}

const Made = ({ made: { name, key }, onClose }: { made: CreatedManagementKey; onClose: () => void }) => (
  <Dialog title={`The key ${name}`} close="Done" onClose={onClose}>
    <ShownOnce label="Management key" text={key} />
    <Code label="A first call" text={`curl ${serverUrl}/api/instances \\\n  -H 'Authorization: Bearer ${key}'`} />
  </Dialog>
);
