import { useSignal } from "@preact/signals";
import type { AgentBundle, ImportedAgent } from "../../../../../client/index.ts";
import { api } from "../../../../data/api.ts";
import { useForm } from "../../../../data/form/form.ts";
import { Allowed } from "../../../../ui/allowed.tsx";
import { Button } from "../../../../ui/button.tsx";
import { Card } from "../../../../ui/card.tsx";
import { DialogButton } from "../../../../ui/dialog/buttons.tsx";
import { Dialog } from "../../../../ui/dialog/dialog.tsx";
import { download } from "../../../../ui/download.ts";
import { type FieldTable, FormDialog } from "../../../../ui/form/form.tsx";
import { tellFailure } from "../../../../ui/toast.tsx";
import { agentAddressName } from "../../../shared-fields.ts";
import { ImportAgent, ImportOutcome } from "../../import-agent.tsx";
import type { TabProps } from "../tab-props.ts";

/** Exports the agent as a file, or copies it to a new agent. */
export function Copies({ agent: { slug }, onChange }: Pick<TabProps, "agent" | "onChange">) {
  const save = async () => {
    download(`${slug}.json`, JSON.stringify(await api.exportAgent({ slug }), null, 2), "application/json");
  };
  return (
    <Card
      title="Copies"
      lead="A file holds all but secrets, keys and conversations. It can be imported here or into another installation."
    >
      <div class="actions">
        <Button onClick={() => void save().catch(tellFailure)}>Export</Button>
        <Allowed to="agent:write">
          <DialogButton dialog={(onClose) => <Duplicate slug={slug} onClose={onClose} />}>Duplicate</DialogButton>
          <ImportAgent
            label="Replace by a file"
            warning="The agent becomes what is in the file: prompts, tools, skills, channels, hooks, Room and tasks that it has now and the file has not are gone. Secrets and conversations stay."
            send={(bundle) => api.replaceAgent({ slug, body: bundle })}
            onImported={onChange}
          />
        </Allowed>
      </div>
    </Card>
  );
}

function Duplicate({ slug, onClose }: { slug: string; onClose: () => void }) {
  const made = useSignal<ImportedAgent | null>(null);
  const form = useForm(null, { slug: `${slug}-copy` }, async () => {
    const bundle: AgentBundle = await api.exportAgent({ slug });
    made.value = await api.importAgent({ body: { ...bundle, instance: { ...bundle.instance, ...form.values } } });
  });
  if (made.value) {
    return (
      <Dialog title={`${made.value.slug} is there`} close="Done" onClose={onClose}>
        <ImportOutcome imported={made.value} />
      </Dialog>
    );
  }
  const fields: FieldTable<{ slug: string }> = [
    {
      name: "slug",
      path: "instance.slug",
      hint: "Secrets, keys, memories and conversations stay with the first one.",
      ...agentAddressName,
      autofocus: true,
    },
  ];
  return <FormDialog title={`Duplicate ${slug}`} action="Duplicate" form={form} fields={fields} onClose={onClose} />;
}
