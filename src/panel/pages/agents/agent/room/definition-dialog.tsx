import type { EventDefinition, NewEventDefinition } from "../../../../../client/index.ts";
import { api } from "../../../../data/api.ts";
import { useForm } from "../../../../data/form/form.ts";
import { useLoaded } from "../../../../data/list/load.ts";
import { choicesOf } from "../../../../ui/form/choices.ts";
import { type DialogProps, type FieldTable, FormDialog } from "../../../../ui/form/form.tsx";
import { tell } from "../../../../ui/toast.tsx";
import { destinationText, type Outbound, outboundFields } from "../outbound.ts";
import { conditionsIn, linesOf } from "./conditions.ts";
import type { Sender } from "./senders.tsx";

interface Props extends DialogProps {
  /** The path of the source. */
  path: { slug: string; id: string };
  /** The kind of sender, for its examples. */
  sender: Sender;
  /** Null for a new definition. */
  definition: EventDefinition | null;
}

interface DefinitionInput extends Outbound, Pick<EventDefinition, "name" | "matchingPrompt" | "action" | "enabled"> {
  /** One condition in each line, such as `issue.state = "open"`. */
  conditions: string;
  /** The prompt for the agent. */
  prompt: string;
  /** Null: after all other definitions. */
  priority: number | null;
}

const blank: DefinitionInput = {
  name: "",
  matchingPrompt: "",
  conditions: "",
  action: "conversation",
  prompt: "",
  priority: null,
  enabled: true,
  outboundChannel: null,
  outboundTarget: null,
};

const written = ({
  interpretationPrompt,
  contextPrompt,
  conditions,
  ...definition
}: EventDefinition): DefinitionInput => ({
  ...definition,
  conditions: linesOf(conditions),
  prompt: definition.action === "conversation" ? contextPrompt : interpretationPrompt,
});

/** Creates or changes a definition: which events matter, and how the agent handles them. */
export function DefinitionDialog({ path, sender: { example }, definition, ...dialog }: Props) {
  const { slug } = path;
  const room = useLoaded(() => api.getRoom({ slug }), [slug]).value.value;
  const form = useForm<DefinitionInput>(null, definition ? written(definition) : blank, async () => {
    const body = bodyOf(form.values);
    if (definition) await api.updateEventDefinition({ ...path, definitionId: definition.id, body });
    else await api.createEventDefinition({ ...path, body });
    tell("Saved");
  });
  const { values } = form;
  const fields: FieldTable<DefinitionInput> = [
    { name: "name", label: "Name", required: true, autofocus: true, placeholder: example.name },
    {
      name: "matchingPrompt",
      label: "Which events it is about",
      hint: "In your words: a model reads them with each event, and answers yes or no.",
      kind: "area",
      rows: 3,
      placeholder: example.matchingPrompt,
    },
    {
      name: "conditions",
      label: "What must hold before the model is asked",
      optional: true,
      hint: "One a line, as a path and a value in JSON. It saves tokens.",
      kind: "area",
      rows: 2,
      placeholder: example.conditions,
    },
    {
      name: "action",
      label: "What is done",
      kind: "choice",
      choices: choicesOf({
        conversation: "Begin a conversation at once",
        backlog: "Put it into the backlog, for the next turn in the Room",
      }),
    },
    {
      name: "prompt",
      label: "What the agent is told",
      path: values.action === "conversation" ? "contextPrompt" : "interpretationPrompt",
      optional: true,
      hint: "{{payload}} and {{payload.a.b}} are filled in. Without them the payload follows.",
      kind: "area",
      rows: 4,
      placeholder: example.prompt,
    },
    outboundFields(values, `Where the Room's go${room?.configured ? `: ${destinationText(room)}` : ""}`),
    [
      {
        name: "priority",
        label: "Order",
        hint: "Definitions are asked one after the other, until one matches.",
        kind: "number",
        optional: definition === null,
      },
      { name: "enabled", label: "On", kind: "switch" },
    ],
  ];
  const title = definition ? `Edit ${definition.name}` : "New definition";
  return <FormDialog title={title} wide action="Save" form={form} fields={fields} {...dialog} />;
}

/** The request body. Throws for an unreadable condition. */
function bodyOf({ conditions, prompt, priority, ...values }: DefinitionInput): NewEventDefinition {
  const { name, matchingPrompt, action, enabled, outboundChannel, outboundTarget } = values;
  return {
    name,
    matchingPrompt,
    action,
    enabled,
    outboundChannel,
    outboundTarget,
    conditions: conditionsIn(conditions),
    ...(action === "conversation" ? { contextPrompt: prompt } : { interpretationPrompt: prompt }),
    ...(priority === null ? {} : { priority }),
  };
}
