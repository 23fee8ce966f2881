import { Card } from "../../../../ui/card.tsx";
import { Switch, TextField } from "../../../../ui/form/field.tsx";
import { ListField } from "../../../../ui/form/list-field.tsx";
import { NumberField } from "../../../../ui/form/number-field.tsx";
import type { PartProps } from "./part-props.ts";

/** How the agent behaves on messengers. */
export function Messages({ form }: PartProps) {
  const { values, set, problem } = form;
  return (
    <Card title="On messengers" lead="Empty fields have what the installation's policies say.">
      <div class="columns">
        <NumberField
          label="Messages that belong together, in ms"
          optional
          hint="Those that come within this time of each other are answered as one."
          value={values.debounceMs}
          problem={problem("debounceMs")}
          onNumber={(debounceMs) => set({ debounceMs })}
        />
        <NumberField
          label="Before the typing sign, in ms"
          optional
          value={values.typingDelayMs}
          problem={problem("typingDelayMs")}
          onNumber={(typingDelayMs) => set({ typingDelayMs })}
        />
        <NumberField
          label="Restarts of a turn"
          optional
          hint="How often a new message may have it begin its answer again."
          value={values.maxRestarts}
          problem={problem("maxRestarts")}
          onNumber={(maxRestarts) => set({ maxRestarts })}
        />
      </div>
      <Switch
        label="People can stop and resume it by a word"
        checked={values.optoutEnabled}
        onChecked={(optoutEnabled) => set({ optoutEnabled })}
      />
      {values.optoutEnabled && <Words form={form} />}
    </Card>
  );
}

function Words({ form: { values, set, problem } }: PartProps) {
  const words = (field: "optoutStopKeywords" | "optoutResumeKeywords", label: string) => (
    <ListField
      label={label}
      hint="With commas between them."
      items={values[field]}
      problem={problem(field)}
      onItems={(items) => set({ [field]: items })}
    />
  );
  const message = (field: "optoutClosingMessage" | "optoutResumeMessage", label: string) => (
    <TextField
      label={label}
      optional
      value={values[field] ?? ""}
      problem={problem(field)}
      onValue={(text) => set({ [field]: text || null })}
    />
  );
  return (
    <div class="columns">
      {words("optoutStopKeywords", "Words that stop it")}
      {words("optoutResumeKeywords", "Words that resume it")}
      {message("optoutClosingMessage", "Said to who stops it")}
      {message("optoutResumeMessage", "Said to who resumes it")}
    </div>
  );
}
