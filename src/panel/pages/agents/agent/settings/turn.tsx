import { Card } from "../../../../ui/card.tsx";
import { Switch } from "../../../../ui/form/field.tsx";
import { NumberField } from "../../../../ui/form/number-field.tsx";
import type { PartProps } from "./part-props.ts";

/** What a turn may take, and what the model sees in it. */
export const Turn = ({ form: { values, set, problem } }: PartProps) => (
  <Card title="A turn">
    <div class="columns">
      <NumberField
        label="Model calls in a turn, at most"
        value={values.maxSteps}
        problem={problem("maxSteps")}
        onNumber={(maxSteps) => set({ maxSteps })}
      />
      <NumberField
        label="Earlier messages that the model sees"
        value={values.historyLimit}
        problem={problem("historyLimit")}
        onNumber={(historyLimit) => set({ historyLimit })}
      />
    </div>
    <Switch
      label="Tell programs that ask how many tokens a streamed reply took"
      checked={values.streamUsageEnabled}
      onChecked={(streamUsageEnabled) => set({ streamUsageEnabled })}
    />
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
);
