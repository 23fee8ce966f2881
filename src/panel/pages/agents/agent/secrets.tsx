import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { useAction } from "../../../data/action.ts";
import { api, problemsOf } from "../../../data/api.ts";
import { useLoaded } from "../../../data/load.ts";
import { hrefOf } from "../../../data/route.ts";
import { Allowed } from "../../../ui/allowed.tsx";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { ConfirmButton } from "../../../ui/dialog/confirm-button.tsx";
import { TextField } from "../../../ui/form/field.tsx";
import { Form } from "../../../ui/form/form.tsx";
import { SecretField } from "../../../ui/form/secret-field.tsx";
import { Failure, Note } from "../../../ui/note.tsx";
import { Table } from "../../../ui/table.tsx";
import { tell } from "../../../ui/toast.tsx";
import { Waiting } from "../../../ui/waiting.tsx";
import type { TabProps } from "./tab-props.ts";

/** The agent's secrets by their keys. A value is sent to the server, and never comes back. */
export function Secrets({ agent: { slug } }: TabProps) {
  const { value, error, reload } = useLoaded(async () => (await api.listAgentSecrets({ slug })).secrets, [slug]);
  const secrets = value.value;
  const stored = secrets?.filter(({ configured }) => configured);
  const remove = async (key: string) => {
    await api.deleteAgentSecret({ slug, key });
    tell(`${key} is deleted`);
    await reload();
  };
  return (
    <div class="form">
      <p class="soft">
        Keys of model providers, and what tools sign in with. The model and the logs never see them; nobody can read one
        here again. <a href={hrefOf(["agents", slug, "tools"])}>What the tools still need</a>
      </p>
      <Failure error={error.value} retry={reload} />
      {!secrets && error.value === undefined && <Waiting />}
      {stored?.length === 0 && <Note>No secret is stored yet.</Note>}
      {stored && stored.length > 0 && (
        <Table
          label="Secrets"
          rows={stored}
          keyOf={({ key }) => key}
          columns={[
            { title: "Key", cell: ({ key }) => <code>{key}</code> },
            { title: "Value", cell: () => <span class="soft">stored, not shown</span> },
            {
              title: "Actions",
              end: true,
              cell: ({ key }) => (
                <Allowed to="agent.secret:write">
                  <ConfirmButton
                    small
                    label="Delete"
                    title={`Delete ${key}?`}
                    action="Delete the secret"
                    onConfirm={() => remove(key)}
                  >
                    What needs it stops working with the next turn.
                  </ConfirmButton>
                </Allowed>
              ),
            },
          ]}
        />
      )}
      <Allowed to="agent.secret:write">
        <NewSecret slug={slug} known={secrets?.map(({ key }) => key) ?? []} onStored={reload} />
      </Allowed>
    </div>
  );
}

interface NewSecretProps {
  slug: string;
  /** Keys that the engine or the tools know. */
  known: readonly string[];
  onStored: () => void;
}

function NewSecret({ slug, known, onStored }: NewSecretProps) {
  const typed = useSignal({ key: "", value: "" });
  const list = useId();
  const { key, value } = typed.value;
  const save = useAction(async () => {
    const { dropped = [] } = await api.putAgentSecrets({ slug, body: { secrets: [{ key, value }] } });
    typed.value = { key: "", value: "" };
    tell(dropped.length === 0 ? `${key} is stored` : `${key} is stored. Deleted with it: ${dropped.join(", ")}`);
    onStored();
  });
  const problems = problemsOf(save.error);
  return (
    <Card title="Store a secret" lead="A value for a key that is stored already takes its place.">
      <Form onSubmit={() => void save.run()}>
        <datalist id={list}>
          {known.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <div class="columns">
          <TextField
            label="Key"
            required
            list={list}
            placeholder="openai_api_key"
            autocapitalize="none"
            spellcheck={false}
            value={key}
            problem={problems.get("secrets.0.key")}
            onValue={(text) => {
              typed.value = { ...typed.value, key: text };
            }}
          />
          <SecretField
            label="Value"
            required
            value={value}
            problem={problems.get("secrets.0.value")}
            onValue={(text) => {
              typed.value = { ...typed.value, value: text };
            }}
          />
        </div>
        <Failure error={save.error} />
        <div class="actions">
          <Button look="primary" type="submit" busy={save.busy}>
            Store
          </Button>
        </div>
      </Form>
    </Card>
  );
}
