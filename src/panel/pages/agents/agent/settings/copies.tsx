import { useSignal } from "@preact/signals";
import type { AgentBundle, ImportedAgent } from "../../../../../client/index.ts";
import { useAction } from "../../../../data/action.ts";
import { api } from "../../../../data/api.ts";
import { Allowed } from "../../../../ui/allowed.tsx";
import { Button } from "../../../../ui/button.tsx";
import { Card } from "../../../../ui/card.tsx";
import { Dialog } from "../../../../ui/dialog/dialog.tsx";
import { download } from "../../../../ui/download.ts";
import { TextField } from "../../../../ui/form/field.tsx";
import { Form } from "../../../../ui/form/form.tsx";
import { Failure } from "../../../../ui/note.tsx";
import { tellFailure } from "../../../../ui/toast.tsx";
import { ImportAgent } from "../../import-agent.tsx";
import { ImportOutcome } from "../../import-outcome.tsx";
import type { TabProps } from "../tab-props.ts";

/** The agent as a file, and as the beginning of another one. */
export function Copies({ agent: { slug }, onChange }: Pick<TabProps, "agent" | "onChange">) {
  const duplicates = useSignal(false);
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
          <Button
            onClick={() => {
              duplicates.value = true;
            }}
          >
            Duplicate
          </Button>
          <ImportAgent
            label="Replace by a file"
            warning="The agent becomes what is in the file: prompts, tools, skills, channels, hooks, Room and tasks that it has now and the file has not are gone. Secrets and conversations stay."
            send={(bundle) => api.replaceAgent({ slug, body: bundle })}
            onImported={onChange}
          />
        </Allowed>
      </div>
      {duplicates.value && (
        <Duplicate
          slug={slug}
          onClose={() => {
            duplicates.value = false;
          }}
        />
      )}
    </Card>
  );
}

function Duplicate({ slug, onClose }: { slug: string; onClose: () => void }) {
  const typed = useSignal(`${slug}-copy`);
  const made = useSignal<ImportedAgent | null>(null);
  const act = useAction(async () => {
    const bundle: AgentBundle = await api.exportAgent({ slug });
    made.value = await api.importAgent({ body: { ...bundle, instance: { ...bundle.instance, slug: typed.value } } });
  });
  return (
    <Dialog title={made.value ? `${made.value.slug} is there` : `Duplicate ${slug}`} onClose={onClose}>
      {made.value ? (
        <>
          <ImportOutcome imported={made.value} />
          <div class="actions">
            <Button look="primary" onClick={onClose}>
              Done
            </Button>
          </div>
        </>
      ) : (
        <Form onSubmit={() => void act.run()}>
          <TextField
            label="Its name in addresses"
            hint="Secrets, keys, memories and conversations stay with the first one."
            required
            autofocus
            pattern="[a-z0-9_.\-]+"
            maxLength={128}
            autocapitalize="none"
            spellcheck={false}
            value={typed.value}
            onValue={(text) => {
              typed.value = text;
            }}
          />
          <Failure error={act.error} />
          <div class="actions">
            <Button onClick={onClose}>Cancel</Button>
            <Button look="primary" type="submit" busy={act.busy}>
              Duplicate
            </Button>
          </div>
        </Form>
      )}
    </Dialog>
  );
}
