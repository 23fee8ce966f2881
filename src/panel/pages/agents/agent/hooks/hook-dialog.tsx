import type { Hook, NewHook } from "../../../../../client/index.ts";
import { api } from "../../../../data/api.ts";
import { useForm } from "../../../../data/form/form.ts";
import { useLoaded } from "../../../../data/list/load.ts";
import { jsonIn } from "../../../../data/text.ts";
import { type DialogProps, type FieldTable, FormDialog } from "../../../../ui/form/form.tsx";
import { tell } from "../../../../ui/toast.tsx";

/** The events of hooks, in the order of a turn (docs/hooks.md). */
const events: readonly { value: Hook["event"]; label: string; hint: string }[] = [
  {
    value: "conversation_start",
    label: "Before the first message of a conversation",
    hint: "What the tool answers is told to the model.",
  },
  { value: "message_received", label: "Before each message", hint: "What the tool answers is told to the model." },
  {
    value: "response_generated",
    label: "When the reply is complete",
    hint: "What the tool answers can take the place of the reply.",
  },
  { value: "response_sent", label: "After the reply was sent", hint: "For telling another system." },
];

export const labelOf = (event: Hook["event"]) => events.find(({ value }) => value === event)?.label ?? event;

interface Props extends DialogProps {
  slug: string;
  /** Null for a new hook. */
  hook: Hook | null;
}

interface HookInput extends Pick<Hook, "event" | "mutates" | "timeoutMs"> {
  /** `args` as JSON. */
  actionConfig: { toolName: string; args: string };
  /** Null: after all other hooks. */
  position: number | null;
}

const blank: HookInput = {
  event: "message_received",
  mutates: false,
  timeoutMs: 10_000,
  actionConfig: { toolName: "", args: '{\n  "text": "{{message.text}}"\n}' },
  position: null,
};

const written = ({ actionConfig: { toolName, args }, ...hook }: Hook): HookInput => ({
  ...hook,
  actionConfig: { toolName, args: JSON.stringify(args ?? {}, null, 2) },
});

/** Creates or changes a hook. */
export function HookDialog({ slug, hook, ...dialog }: Props) {
  const tools = useLoaded(async () => (await api.listAgentTools({ slug })).tools, [slug]).value.value;
  const form = useForm<HookInput>(null, hook ? written(hook) : blank, async () => {
    const body = bodyOf(form.values);
    if (hook) await api.updateHook({ slug, id: hook.id, body });
    else await api.createHook({ slug, body });
    tell("The hook holds from the next turn on");
  });
  const { event } = form.values;
  const fields: FieldTable<HookInput> = [
    {
      name: "event",
      label: "When",
      hint: events.find(({ value }) => value === event)?.hint,
      kind: "choice",
      choices: events,
    },
    {
      name: "actionConfig.toolName",
      label: "Tool",
      required: true,
      hint: "It need not be on for the model, and these calls ask nobody.",
      suggestions: tools?.map(({ name }) => name) ?? [],
      spellcheck: false,
      autocapitalize: "none",
    },
    {
      name: "actionConfig.args",
      label: "What it is called with",
      hint: "JSON. {{message.text}}, {{response.text}}, {{user.name}}, {{conversation.id}}, {{channel.type}} and {{state.KEY}} are filled in.",
      kind: "area",
      rows: 8,
    },
    [
      { name: "timeoutMs", label: "Longest time, in ms", kind: "number" },
      {
        name: "position",
        label: "Order",
        hint: "Hooks of the same moment run one after the other.",
        kind: "number",
        optional: hook === null,
      },
    ],
    {
      name: "mutates",
      label: "Its answer becomes the reply",
      hint: "Nobody sees the reply before: it is not streamed.",
      kind: "switch",
      shown: event === "response_generated",
    },
  ];
  const title = hook ? "Edit the hook" : "New hook";
  return <FormDialog title={title} wide action="Save" form={form} fields={fields} {...dialog} />;
}

/** The request body. Throws for arguments that are no JSON object. */
const bodyOf = ({ event, mutates, timeoutMs, actionConfig: { toolName, args }, position }: HookInput): NewHook => ({
  event,
  timeoutMs,
  mutates: event === "response_generated" && mutates,
  actionConfig: { toolName, args: objectIn(args) },
  ...(position === null ? {} : { position }),
});

function objectIn(text: string): Record<string, unknown> {
  const value = jsonIn(text.trim() === "" ? "{}" : text, "What the tool is called with");
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Error('What the tool is called with must be an object, such as {"text": "{{message.text}}"}');
  }
  return value as Record<string, unknown>;
}
