import { Card } from "../../../../ui/card.tsx";
import { Switch, TextField } from "../../../../ui/form/field.tsx";
import type { PartProps } from "./part-props.ts";

/** Whether the agent is traced, and in which project. */
export const Tracing = ({ form: { values, set, problem } }: PartProps) => (
  <Card title="Tracing" lead="Each turn from the inside, in Langfuse. The secret tracing_api_key holds its keys.">
    <Switch
      label="Send each turn to the tracing backend"
      checked={values.tracingEnabled}
      onChecked={(tracingEnabled) => set({ tracingEnabled })}
    />
    {values.tracingEnabled && (
      <TextField
        label="Project"
        optional
        hint="Its exact name there. Another project's key is warned of."
        value={values.tracingProject ?? ""}
        problem={problem("tracingProject")}
        onValue={(project) => set({ tracingProject: project || null })}
      />
    )}
  </Card>
);
