import type { AgentChanges, Instance } from "../../../../../client/index.ts";
import { api, isRefused } from "../../../../data/api.ts";
import { useForm } from "../../../../data/form.ts";
import { goTo } from "../../../../data/route.ts";
import { Allowed, Changeable } from "../../../../ui/allowed.tsx";
import { Card } from "../../../../ui/card.tsx";
import { ConfirmButton } from "../../../../ui/dialog/confirm-button.tsx";
import { SaveForm } from "../../../../ui/form/save-form.tsx";
import { tell } from "../../../../ui/toast.tsx";
import type { TabProps } from "../tab-props.ts";
import { Budgets } from "./budgets.tsx";
import { Copies } from "./copies.tsx";
import { Identity } from "./identity.tsx";
import { Keeping } from "./keeping.tsx";
import { Messages } from "./messages.tsx";
import { Model } from "./model.tsx";
import { Picture } from "./picture.tsx";
import { Tracing } from "./tracing.tsx";
import { Turn } from "./turn.tsx";

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
  return (
    <Changeable to="agent:write">
      <SaveForm form={form}>
        <Identity form={form} />
        <Model form={form} />
        <Turn form={form} />
        <Keeping form={form} />
        <Budgets form={form} />
        <Messages form={form} />
        <Tracing form={form} />
      </SaveForm>
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

function Removal({ agent: { slug, name } }: { agent: Instance }) {
  const remove = async () => {
    await api.deleteAgent({ slug });
    tell(`${name} is deleted`);
    goTo(["agents"]);
  };
  return (
    <Card title="Delete">
      <p class="soft">The agent goes with its secrets, channels and conversations. There is no way back.</p>
      <div class="actions">
        <ConfirmButton
          label="Delete the agent"
          title={`Delete ${name}?`}
          action="Delete the agent"
          word={slug}
          onConfirm={remove}
        >
          Its conversations, memories, secrets and channels are deleted with it.
        </ConfirmButton>
      </div>
    </Card>
  );
}
