import type { AgentChanges, CallOptions, Instance } from "../../../../../client/index.ts";
import { api } from "../../../../data/api.ts";
import { readCurrency } from "../../../../data/currency.ts";
import { useForm } from "../../../../data/form/form.ts";
import { saveUnchanged } from "../../../../data/form/unchanged.ts";
import { useLoaded } from "../../../../data/list/load.ts";
import { goTo } from "../../../../data/route.ts";
import { may, orgSlug } from "../../../../data/session.ts";
import { useActs } from "../../../../ui/act-button.tsx";
import { Allowed, Changeable } from "../../../../ui/allowed.tsx";
import { Button } from "../../../../ui/button.tsx";
import { Card } from "../../../../ui/card.tsx";
import { DeleteButton } from "../../../../ui/dialog/buttons.tsx";
import { FileButton } from "../../../../ui/file-button.tsx";
import { SaveForm } from "../../../../ui/form/form.tsx";
import { Failure } from "../../../../ui/note.tsx";
import { AgentIcon } from "../../look.tsx";
import type { TabProps } from "../tab-props.ts";
import { Copies } from "./copies.tsx";
import { settingsFields } from "./fields.ts";

/** The agent's name, model, limits, and retention. */
export function Settings({ agent, onChange }: TabProps) {
  const { slug, name, revision } = agent;
  const form = useForm<Instance>(`agent.${slug}`, agent, (changes) => {
    const save = (options: CallOptions) => api.updateAgent({ slug, body: changes as AgentChanges }, options);
    return saveUnchanged(revision, "changes", save, onChange);
  });
  const org = orgSlug.value;
  const workspaces = useLoaded(
    async () => (may("org:read") ? (await api.listWorkspaces({ orgSlug: org })).workspaces : []),
    [org],
  ).value.value;
  const known = useLoaded(() => api.listProviderModels(), []).value.value;
  const currency = useLoaded(readCurrency, [org]).value.value ?? null;
  const fields = settingsFields(form.values, {
    currency,
    workspaces: workspaces?.map(({ id, name }) => ({ value: id, label: name })) ?? [],
    models: known?.providers[form.values.provider ?? ""]?.models.map(({ id }) => id) ?? [],
  });
  return (
    <Changeable to="agent:write">
      <SaveForm form={form} fields={fields} />
      <Picture agent={agent} onChange={onChange} />
      <Allowed to="agent.export:read">
        <Copies agent={agent} onChange={onChange} />
      </Allowed>
      <Allowed to="agent:delete">
        <Card title="Delete">
          <p class="soft">The agent goes with its secrets, channels and conversations. There is no way back.</p>
          <div class="actions">
            <DeleteButton
              label="Delete the agent"
              name={name}
              kind="agent"
              word={slug}
              onConfirm={() => api.deleteAgent({ slug })}
              onDone={() => goTo(["agents"])}
            >
              Its conversations, memories, secrets and channels are deleted with it.
            </DeleteButton>
          </div>
        </Card>
      </Allowed>
    </Changeable>
  );
}

/** Chooses or removes the agent's picture. */
function Picture({ agent, onChange }: Pick<TabProps, "agent" | "onChange">) {
  const { slug, icon } = agent;
  const act = useActs(onChange);
  return (
    <Card title="Picture" lead="PNG, JPEG or WebP, at most 512 KiB.">
      <div class="actions">
        <AgentIcon agent={agent} />
        <FileButton
          label="File with the picture"
          accept="image/png,image/jpeg,image/webp"
          busy={act.busy}
          onFile={(file) => void act.run(() => api.putAgentIcon({ slug, body: file }), "The picture is there")}
        >
          {icon === null ? "Choose a picture" : "Another picture"}
        </FileButton>
        {icon !== null && (
          <Button busy={act.busy} onClick={() => void act.run(() => api.deleteAgentIcon({ slug }), "Removed")}>
            Remove
          </Button>
        )}
      </div>
      <Failure error={act.error} />
    </Card>
  );
}
