import { useSignal } from "@preact/signals";
import type { EventCondition, EventDefinition, NewEventDefinition } from "../../../../../client/index.ts";
import { useAction } from "../../../../data/action.ts";
import { api, problemsOf } from "../../../../data/api.ts";
import { useLoaded } from "../../../../data/load.ts";
import { FormDialog } from "../../../../ui/dialog/form-dialog.tsx";
import { Choice, Switch, TextArea, TextField } from "../../../../ui/form/field.tsx";
import { tell } from "../../../../ui/toast.tsx";
import { OrderField } from "../order-field.tsx";
import { destinationText, type Outbound, OutboundFields } from "../outbound.tsx";
import { conditionsIn, linesOf } from "./conditions.ts";
import type { Sender } from "./senders.tsx";

interface Props {
  /** Of the source. */
  path: { slug: string; id: string };
  /** The kind of the sender, for examples. */
  sender: Sender;
  /** Null: a new one. */
  definition: EventDefinition | null;
  onSaved: () => void;
  onClose: () => void;
}

interface Written extends Outbound {
  name: string;
  matchingPrompt: string;
  /** One a line, such as `issue.state = "open"`. */
  conditions: string;
  action: EventDefinition["action"];
  /** What the agent is told. */
  prompt: string;
  /** Null: behind all others. */
  priority: number | null;
  enabled: boolean;
}

const blank: Written = {
  ...{ name: "", matchingPrompt: "", conditions: "", action: "conversation", prompt: "" },
  ...{ priority: null, enabled: true, outboundChannel: null, outboundTarget: null },
};

function written(definition: EventDefinition): Written {
  const { action, interpretationPrompt, contextPrompt, conditions } = definition;
  return {
    ...definition,
    conditions: linesOf(conditions),
    prompt: action === "conversation" ? contextPrompt : interpretationPrompt,
  };
}

const actions = [
  { value: "conversation", label: "Begin a conversation at once" },
  { value: "backlog", label: "Put it into the backlog, for the next turn in the Room" },
];

/** Makes or changes a definition: which events matter, and what is done about them. */
export function DefinitionDialog({ path, sender: { example }, definition, onSaved, onClose }: Props) {
  const { slug } = path;
  const room = useLoaded(() => api.getRoom({ slug }), [slug]).value.value;
  const values = useSignal<Written>(definition ? written(definition) : blank);
  const set = (changes: Partial<Written>) => {
    values.value = { ...values.value, ...changes };
  };
  const save = useAction(async () => {
    const body = bodyOf(values.value);
    if (definition) await api.updateEventDefinition({ ...path, definitionId: definition.id, body });
    else await api.createEventDefinition({ ...path, body });
    tell("Saved");
    onSaved();
    onClose();
  });
  const { name, matchingPrompt, conditions, action, prompt, priority, enabled } = values.value;
  const problems = problemsOf(save.error);
  const promptField = action === "conversation" ? "contextPrompt" : "interpretationPrompt";
  return (
    <FormDialog
      title={definition ? `Edit ${definition.name}` : "New definition"}
      wide
      action="Save"
      state={save}
      onSubmit={() => void save.run()}
      onClose={onClose}
    >
      <TextField
        label="Name"
        required
        autofocus
        placeholder={example.name}
        value={name}
        problem={problems.get("name")}
        onValue={(text) => set({ name: text })}
      />
      <TextArea
        label="Which events it is about"
        rows={3}
        placeholder={example.matchingPrompt}
        hint="In your words: a model reads them with each event, and answers yes or no."
        value={matchingPrompt}
        problem={problems.get("matchingPrompt")}
        onValue={(text) => set({ matchingPrompt: text })}
      />
      <TextArea
        label="What must hold before the model is asked"
        optional
        rows={2}
        placeholder={example.conditions}
        hint="One a line, as a path and a value in JSON. It saves tokens."
        value={conditions}
        problem={problems.get("conditions")}
        onValue={(text) => set({ conditions: text })}
      />
      <Choice
        label="What is done"
        value={action}
        choices={actions}
        onValue={(what) => set({ action: what as Written["action"] })}
      />
      <TextArea
        label="What the agent is told"
        optional
        rows={4}
        placeholder={example.prompt}
        hint="{{payload}} and {{payload.a.b}} are filled in. Without them the payload follows."
        value={prompt}
        problem={problems.get(promptField)}
        onValue={(text) => set({ prompt: text })}
      />
      <OutboundFields
        values={values.value}
        otherwise={room?.configured ? `Where the Room's go: ${destinationText(room)}` : "Where the Room's go"}
        problem={(field) => problems.get(field)}
        onValues={set}
      />
      <div class="columns">
        <OrderField
          hint="Definitions are asked one after the other, until one matches."
          isNew={definition === null}
          value={priority}
          problem={problems.get("priority")}
          onNumber={(value) => set({ priority: value })}
        />
        <Switch label="On" checked={enabled} onChecked={(on) => set({ enabled: on })} />
      </div>
    </FormDialog>
  );
}

/** What the API takes. Throws for a condition that can't be read. */
function bodyOf(values: Written): NewEventDefinition {
  const { name, matchingPrompt, action, prompt, priority, enabled, outboundChannel, outboundTarget } = values;
  const conditions: EventCondition[] = conditionsIn(values.conditions);
  return {
    ...{ name, matchingPrompt, action, enabled, conditions, outboundChannel, outboundTarget },
    ...(action === "conversation" ? { contextPrompt: prompt } : { interpretationPrompt: prompt }),
    ...(priority === null ? {} : { priority }),
  };
}
