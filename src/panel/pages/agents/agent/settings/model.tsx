import type { Instance } from "../../../../../client/index.ts";
import { api } from "../../../../data/api.ts";
import { useLoaded } from "../../../../data/load.ts";
import { Card } from "../../../../ui/card.tsx";
import { Choice, Switch, TextField } from "../../../../ui/form/field.tsx";
import { NumberField } from "../../../../ui/form/number-field.tsx";
import { providers } from "../../providers.ts";
import type { PartProps } from "./part-props.ts";

/** Which model answers, and how. */
export function Model({ form: { values, set, problem } }: PartProps) {
  const known = useLoaded(() => api.listProviderModels(), []);
  const models = known.value.value?.providers[values.provider ?? ""]?.models ?? [];
  return (
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
          step="any"
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
  );
}
