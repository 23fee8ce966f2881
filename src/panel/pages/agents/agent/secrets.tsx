import { api } from "../../../data/api.ts";
import { useForm } from "../../../data/form/form.ts";
import { useLoaded } from "../../../data/list/load.ts";
import { hrefOf } from "../../../data/route.ts";
import { hasFeature } from "../../../data/session.ts";
import { Allowed } from "../../../ui/allowed.tsx";
import { Card } from "../../../ui/card.tsx";
import { DeleteButton } from "../../../ui/dialog/buttons.tsx";
import { SendForm } from "../../../ui/form/form.tsx";
import { Table } from "../../../ui/list/table.tsx";
import { WhenLoaded } from "../../../ui/list/when-loaded.tsx";
import { Note } from "../../../ui/note.tsx";
import { tell } from "../../../ui/toast.tsx";
import type { TabProps } from "./tab-props.ts";

/** The agent's secrets by their keys. A value is sent to the server, and never comes back. */
export function Secrets({ agent: { slug } }: TabProps) {
  const secrets = useLoaded(async () => (await api.listAgentSecrets({ slug })).secrets, [slug]);
  return (
    <div class="form">
      <p class="soft">
        {hasFeature("providers") ? (
          <>
            What tools sign in with; keys of model providers are in{" "}
            <a href={hrefOf(["agents", slug, "models"])}>Models</a>.
          </>
        ) : (
          "Keys of model providers, and what tools sign in with."
        )}{" "}
        The model and the logs never see them; nobody can read one here again.{" "}
        <a href={hrefOf(["agents", slug, "tools"])}>What the tools still need</a>
      </p>
      <WhenLoaded of={secrets}>
        {(all) => {
          const stored = all.filter(({ configured }) => configured);
          if (stored.length === 0) return <Note>No secret is stored yet.</Note>;
          return (
            <Table
              label="Secrets"
              rows={stored}
              keyOf={({ key }) => key}
              columns={[
                { title: "Key", cell: ({ key }) => <code>{key}</code> },
                { title: "Value", cell: () => <span class="soft">stored, not shown</span> },
              ]}
              actionsTo="agent.secret:write"
              actions={({ key }) => (
                <DeleteButton
                  small
                  name={key}
                  kind="secret"
                  onConfirm={() => api.deleteAgentSecret({ slug, key })}
                  onDone={secrets.reload}
                >
                  What needs it stops working with the next turn.
                </DeleteButton>
              )}
            />
          );
        }}
      </WhenLoaded>
      <Allowed to="agent.secret:write">
        <NewSecret slug={slug} known={secrets.value.value?.map(({ key }) => key) ?? []} onStored={secrets.reload} />
      </Allowed>
    </div>
  );
}

interface NewSecretProps {
  slug: string;
  /** The keys that the engine or tools use. */
  known: readonly string[];
  onStored: () => void;
}

function NewSecret({ slug, known, onStored }: NewSecretProps) {
  const form = useForm(null, { key: "", value: "" }, async () => {
    const { key } = form.values;
    const { dropped = [] } = await api.putAgentSecrets({ slug, body: { secrets: [form.values] } });
    tell(dropped.length === 0 ? `${key} is stored` : `${key} is stored. Deleted with it: ${dropped.join(", ")}`);
    onStored();
  });
  return (
    <Card title="Store a secret" lead="A value for a key that is stored already takes its place.">
      <SendForm
        form={form}
        fields={[
          [
            {
              name: "key",
              label: "Key",
              path: "secrets.0.key",
              required: true,
              suggestions: known,
              placeholder: "openai_api_key",
              autocapitalize: "none",
              spellcheck: false,
            },
            { name: "value", label: "Value", path: "secrets.0.value", required: true, kind: "secret" },
          ],
        ]}
        action="Store"
      />
    </Card>
  );
}
