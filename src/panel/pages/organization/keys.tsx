import { useSignal } from "@preact/signals";
import type { CreatedManagementKey, ManagementKey } from "../../../client/index.ts";
import { api, serverUrl } from "../../data/api.ts";
import { useForm } from "../../data/form.ts";
import { useLoaded } from "../../data/load.ts";
import { orgSlug } from "../../data/session.ts";
import { Button } from "../../ui/button.tsx";
import { Code } from "../../ui/code.tsx";
import { ConfirmButton } from "../../ui/dialog/confirm-button.tsx";
import { Dialog } from "../../ui/dialog/dialog.tsx";
import { FormDialog } from "../../ui/dialog/form-dialog.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Choice, TextField } from "../../ui/form/field.tsx";
import { Failure } from "../../ui/note.tsx";
import { Page } from "../../ui/page.tsx";
import { ShownOnce } from "../../ui/shown-once.tsx";
import { Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { tell } from "../../ui/toast.tsx";
import { Waiting } from "../../ui/waiting.tsx";

/** The management keys of the organization, for programs that set agents up. */
export function KeysPage() {
  const slug = orgSlug.value;
  const { value, error, reload } = useLoaded(
    async () => (await api.listManagementKeys({ orgSlug: slug })).managementKeys,
    [slug],
  );
  const adds = useSignal(false);
  const keys = value.value;
  const newKey = (
    <Button
      look="primary"
      onClick={() => {
        adds.value = true;
      }}
    >
      New key
    </Button>
  );
  return (
    <Page
      title="Management keys"
      lead="For programs that set agents up: a key holds what an Owner may do, except for issuing keys and making Owners."
      actions={keys && keys.length > 0 ? newKey : undefined}
    >
      <Failure error={error.value} retry={reload} />
      {!keys && error.value === undefined && <Waiting />}
      {keys?.length === 0 && (
        <Empty title="No keys yet">
          <p>
            A pipeline that applies agents as files needs one. People who chat with an agent need the agent's own key.
          </p>
          {newKey}
        </Empty>
      )}
      {keys && keys.length > 0 && <KeyTable keys={keys} onChange={reload} />}
      {adds.value && (
        <NewKey
          onCreated={reload}
          onClose={() => {
            adds.value = false;
          }}
        />
      )}
    </Page>
  );
}

function KeyTable({ keys, onChange }: { keys: readonly ManagementKey[]; onChange: () => Promise<void> }) {
  const remove = async ({ id, name }: ManagementKey) => {
    await api.deleteManagementKey({ orgSlug: orgSlug.value, id });
    tell(`${name} is deleted`);
    await onChange();
  };
  return (
    <Table
      label="Management keys"
      rows={keys}
      keyOf={({ id }) => id}
      about={({ prefix }) => <code>{prefix}…</code>}
      columns={[
        { title: "Key", cell: ({ name }) => name },
        { title: "Created", cell: ({ createdAt }) => <Time at={createdAt} /> },
        { title: "Last used", cell: ({ lastUsedAt }) => (lastUsedAt === null ? "never" : <Time at={lastUsedAt} />) },
        { title: "Expires", cell: ({ expiresAt }) => (expiresAt === null ? "never" : <Time at={expiresAt} />) },
        {
          title: "Actions",
          end: true,
          cell: (key) => (
            <ConfirmButton
              small
              label="Delete"
              title={`Delete ${key.name}?`}
              action="Delete the key"
              onConfirm={() => remove(key)}
            >
              Programs with this key are refused from then on.
            </ConfirmButton>
          ),
        },
      ]}
    />
  );
}

const lifetimes = [
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
  { value: "365", label: "One year" },
  { value: "", label: "Does not expire" },
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
  return (
    <FormDialog
      title="New management key"
      action="Create"
      state={form}
      onSubmit={() => void form.save()}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="What it is for, such as the pipeline that uses it."
        required
        autofocus
        maxLength={200}
        value={form.values.name}
        problem={form.problem("name")}
        onValue={(name) => form.set({ name })}
      />
      <Choice label="Lives for" value={form.values.days} choices={lifetimes} onValue={(days) => form.set({ days })} />
    </FormDialog>
  );
}

const Made = ({ made: { name, key }, onClose }: { made: CreatedManagementKey; onClose: () => void }) => (
  <Dialog title={`The key ${name}`} onClose={onClose}>
    <ShownOnce label="Management key" text={key} />
    <Code label="A first call" text={`curl ${serverUrl}/api/instances \\\n  -H 'Authorization: Bearer ${key}'`} />
    <div class="actions">
      <Button look="primary" onClick={onClose}>
        Done
      </Button>
    </div>
  </Dialog>
);
