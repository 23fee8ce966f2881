import type { AgentChanges, Instance } from "../../../../../client/index.ts";
import { api, isRefused } from "../../../../data/api.ts";
import { useForm } from "../../../../data/form.ts";
import { useLoaded } from "../../../../data/load.ts";
import { goTo } from "../../../../data/route.ts";
import { may, orgSlug } from "../../../../data/session.ts";
import { Allowed, Changeable } from "../../../../ui/allowed.tsx";
import { Card } from "../../../../ui/card.tsx";
import { DeleteButton } from "../../../../ui/dialog/confirm-button.tsx";
import { SaveForm } from "../../../../ui/form/form.tsx";
import type { TabProps } from "../tab-props.ts";
import { Copies } from "./copies.tsx";
import { settingsFields } from "./fields.ts";
import { Picture } from "./picture.tsx";

/** Who the agent is, its model, its limits, and what it keeps. */
export function Settings({ agent, onChange }: TabProps) {
  const form = useForm<Instance>(`agent.${agent.slug}`, agent, async (changes) => {
    // Another's change in between is told of, and not overwritten.
    const headers = { "If-Match": `"${agent.revision}"` };
    await api
      .updateAgent({ slug: agent.slug, body: changes as AgentChanges }, { headers })
      .catch(async (error: unknown) => {
        if (!isRefused(error, 412)) throw error;
        await onChange();
        throw new Error(
          "The agent was changed meanwhile, and is read again. Look at your changes, and save once more.",
        );
      });
    await onChange();
  });
  const org = orgSlug.value;
  const workspaces = useLoaded(
    async () => (may("org:read") ? (await api.listWorkspaces({ orgSlug: org })).workspaces : []),
    [org],
  ).value.value;
  const known = useLoaded(() => api.listProviderModels(), []).value.value;
  const fields = settingsFields(form.values, {
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
        <Removal agent={agent} />
      </Allowed>
    </Changeable>
  );
}

const Removal = ({ agent: { slug, name } }: { agent: Instance }) => (
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
);
