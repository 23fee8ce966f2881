import { useSignal } from "@preact/signals";
import type { AgentChanges, Instance } from "../../../../client/index.ts";
import { api } from "../../../data/api.ts";
import { useForm } from "../../../data/form.ts";
import { useLoaded } from "../../../data/load.ts";
import { goTo } from "../../../data/route.ts";
import { Allowed, Changeable } from "../../../ui/allowed.tsx";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { Confirm } from "../../../ui/confirm.tsx";
import { Choice, Switch, TextArea, TextField } from "../../../ui/field.tsx";
import { NumberField } from "../../../ui/number-field.tsx";
import { SaveBar } from "../../../ui/save-bar.tsx";
import { tell } from "../../../ui/toast.tsx";
import { providers } from "../providers.ts";
import { Copies } from "./copies.tsx";
import { Picture } from "./picture.tsx";
import type { TabProps } from "./tab-props.ts";

/** Who the agent is, its model, its limits, and what it keeps. */
export function Settings({ agent, onChange }: TabProps) {
  const form = useForm<Instance>(`agent.${agent.slug}`, agent, async (changes) => {
    // Another's change in between is told of, and not overwritten.
    const headers = { "If-Match": `"${agent.revision}"` };
    await api.updateAgent({ slug: agent.slug, body: changes as AgentChanges }, { headers });
    onChange();
  });
  const { values, set, problem } = form;
  const known = useLoaded(() => api.listProviderModels(), []);
  const models = known.value.value?.providers[values.provider ?? ""]?.models ?? [];
  return (
    <Changeable to="agent:write">
      <Card title="Who it is">
        <div class="columns">
          <TextField label="Name" value={values.name} problem={problem("name")} onValue={(name) => set({ name })} />
          <TextField
            label="Time zone"
            hint="An IANA name such as Europe/Zurich."
            value={values.timezone}
            problem={problem("timezone")}
            onValue={(timezone) => set({ timezone })}
          />
        </div>
        <TextArea
          label="Description"
          optional
          value={values.description}
          problem={problem("description")}
          onValue={(description) => set({ description })}
        />
        <Switch
          label="Active"
          hint="An inactive agent answers nobody but the playground."
          checked={values.active}
          onChecked={(active) => set({ active })}
        />
      </Card>

      <Card title="Model">
        <div class="columns">
          <Choice
            label="Provider"
            value={values.provider ?? ""}
            choices={[{ value: "", label: "The installation's default" }, ...providers]}
            onValue={(provider) => set({ provider: (provider || null) as Instance["provider"], model: null })}
          />
          <TextField
            label="Model"
            optional
            list="models"
            placeholder="The provider's usual one"
            value={values.model ?? ""}
            problem={problem("model")}
            onValue={(model) => set({ model: model || null })}
          />
          <TextField
            label="Fast model"
            optional
            list="models"
            hint="For titles, summaries and memories. Without one nothing runs in the background."
            value={values.fastModel ?? ""}
            problem={problem("fastModel")}
            onValue={(fastModel) => set({ fastModel: fastModel || null })}
          />
        </div>
        <datalist id="models">
          {models.map(({ id }) => (
            <option key={id} value={id} />
          ))}
        </datalist>
        <div class="columns">
          <NumberField
            label="Temperature"
            optional
            step={0.1}
            value={values.temperature}
            problem={problem("temperature")}
            onNumber={(temperature) => set({ temperature })}
          />
          <NumberField
            label="Longest answer, in tokens"
            optional
            value={values.maxOutputTokens}
            problem={problem("maxOutputTokens")}
            onNumber={(maxOutputTokens) => set({ maxOutputTokens })}
          />
        </div>
        <Switch
          label="Reasoning"
          hint="Has the model think first, where it can."
          checked={values.thinkingEnabled}
          onChecked={(thinkingEnabled) => set({ thinkingEnabled })}
        />
      </Card>

      <Card title="A turn">
        <div class="columns">
          <NumberField
            label="Model calls in a turn, at most"
            value={values.maxSteps}
            problem={problem("maxSteps")}
            onNumber={(maxSteps) => maxSteps !== null && set({ maxSteps })}
          />
          <NumberField
            label="Earlier messages that the model sees"
            value={values.historyLimit}
            problem={problem("historyLimit")}
            onNumber={(historyLimit) => historyLimit !== null && set({ historyLimit })}
          />
        </div>
        <Switch
          label="Show the conversation's state to the model"
          checked={values.stateInPromptEnabled}
          onChecked={(stateInPromptEnabled) => set({ stateInPromptEnabled })}
        />
        <Switch
          label="Show results of earlier tool calls to the model"
          checked={values.toolResultsInHistoryEnabled}
          onChecked={(toolResultsInHistoryEnabled) => set({ toolResultsInHistoryEnabled })}
        />
      </Card>

      <Card title="What it keeps">
        <Switch
          label="Memory"
          hint="Remembers facts about end users; needs a fast model to learn by itself."
          checked={values.memoryEnabled}
          onChecked={(memoryEnabled) => set({ memoryEnabled })}
        />
        <Switch
          label="Keep how replies came about"
          hint="Prompt, memories, tools and times of each turn, for Why this answer."
          checked={values.debugEnabled}
          onChecked={(debugEnabled) => set({ debugEnabled })}
        />
        <Switch
          label="Store files that come with messages"
          checked={values.attachmentsEnabled}
          onChecked={(attachmentsEnabled) => set({ attachmentsEnabled })}
        />
      </Card>

      <Card title="Budgets" lead="Tokens a calendar month; empty is no limit.">
        <div class="columns">
          <NumberField
            label="Of the agent"
            optional
            value={values.monthlyTokenBudget}
            problem={problem("monthlyTokenBudget")}
            onNumber={(monthlyTokenBudget) => set({ monthlyTokenBudget })}
          />
          <NumberField
            label="Of each end user"
            optional
            value={values.userMonthlyTokenBudget}
            problem={problem("userMonthlyTokenBudget")}
            onNumber={(userMonthlyTokenBudget) => set({ userMonthlyTokenBudget })}
          />
        </div>
      </Card>
      <SaveBar form={form} />
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
  const asks = useSignal(false);
  const remove = async () => {
    await api.deleteAgent({ slug });
    tell(`${name} is deleted`);
    goTo(["agents"]);
  };
  return (
    <Card title="Delete">
      <p class="soft">The agent goes with its secrets, channels and conversations. There is no way back.</p>
      <div class="actions">
        <Button
          look="danger"
          onClick={() => {
            asks.value = true;
          }}
        >
          Delete the agent
        </Button>
      </div>
      {asks.value && (
        <Confirm
          title={`Delete ${name}?`}
          action="Delete the agent"
          word={slug}
          onConfirm={remove}
          onClose={() => {
            asks.value = false;
          }}
        >
          Its conversations, memories, secrets and channels are deleted with it.
        </Confirm>
      )}
    </Card>
  );
}
