import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import type { Hook, NewHook } from "../../../../../client/index.ts";
import { useAction } from "../../../../data/action.ts";
import { api, problemsOf } from "../../../../data/api.ts";
import { jsonIn } from "../../../../data/json.ts";
import { useLoaded } from "../../../../data/load.ts";
import { FormDialog } from "../../../../ui/dialog/form-dialog.tsx";
import { Choice, Switch, TextArea, TextField } from "../../../../ui/form/field.tsx";
import { NumberField } from "../../../../ui/form/number-field.tsx";
import { tell } from "../../../../ui/toast.tsx";
import { OrderField } from "../order-field.tsx";
import { events, type HookEvent } from "./events.ts";

interface Props {
  slug: string;
  /** Null: a new one. */
  hook: Hook | null;
  onSaved: () => void;
  onClose: () => void;
}

interface Written extends Pick<Hook, "event" | "mutates" | "timeoutMs"> {
  toolName: string;
  /** JSON. */
  args: string;
  /** Null: behind all others. */
  position: number | null;
}

const blank: Written = {
  ...{ event: "message_received", mutates: false, timeoutMs: 10_000, toolName: "", position: null },
  args: '{\n  "text": "{{message.text}}"\n}',
};

const written = ({ event, mutates, timeoutMs, position, actionConfig: { toolName, args } }: Hook): Written => ({
  ...{ event, mutates, timeoutMs, position, toolName },
  args: JSON.stringify(args ?? {}, null, 2),
});

/** Makes or changes a hook. */
export function HookDialog({ slug, hook, onSaved, onClose }: Props) {
  const values = useSignal<Written>(hook ? written(hook) : blank);
  const tools = useLoaded(async () => (await api.listAgentTools({ slug })).tools, [slug]);
  const list = useId();
  const set = (changes: Partial<Written>) => {
    values.value = { ...values.value, ...changes };
  };
  const save = useAction(async () => {
    const body = bodyOf(values.value);
    if (hook) await api.updateHook({ slug, id: hook.id, body });
    else await api.createHook({ slug, body });
    tell("The hook holds from the next turn on");
    onSaved();
    onClose();
  });
  const { event, mutates, timeoutMs, toolName, args, position } = values.value;
  const problems = problemsOf(save.error);
  return (
    <FormDialog
      title={hook ? "Edit the hook" : "New hook"}
      wide
      action="Save"
      state={save}
      onSubmit={() => void save.run()}
      onClose={onClose}
    >
      <Choice
        label="When"
        value={event}
        choices={events}
        hint={events.find(({ value }) => value === event)?.hint}
        onValue={(when) => set({ event: when as HookEvent })}
      />
      <datalist id={list}>
        {tools.value.value?.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <TextField
        label="Tool"
        required
        list={list}
        hint="It need not be on for the model, and these calls ask nobody."
        spellcheck={false}
        autocapitalize="none"
        value={toolName}
        problem={problems.get("actionConfig.toolName")}
        onValue={(text) => set({ toolName: text })}
      />
      <TextArea
        label="What it is called with"
        rows={8}
        hint="JSON. {{message.text}}, {{response.text}}, {{user.name}}, {{conversation.id}}, {{channel.type}} and {{state.KEY}} are filled in."
        value={args}
        problem={problems.get("actionConfig.args")}
        onValue={(text) => set({ args: text })}
      />
      <div class="columns">
        <NumberField
          label="Longest time, in ms"
          value={timeoutMs}
          problem={problems.get("timeoutMs")}
          onNumber={(value) => set({ timeoutMs: value })}
        />
        <OrderField
          hint="Hooks of the same moment run one after the other."
          isNew={hook === null}
          value={position}
          problem={problems.get("position")}
          onNumber={(value) => set({ position: value })}
        />
      </div>
      {event === "response_generated" && (
        <Switch
          label="Its answer becomes the reply"
          hint="Nobody sees the reply before: it is not streamed."
          checked={mutates}
          onChecked={(checked) => set({ mutates: checked })}
        />
      )}
    </FormDialog>
  );
}

/** What the API takes. Throws for arguments that are no JSON object. */
function bodyOf({ event, mutates, timeoutMs, toolName, args, position }: Written): NewHook {
  return {
    ...{ event, timeoutMs, mutates: event === "response_generated" && mutates },
    actionConfig: { toolName, args: objectIn(args) },
    ...(position === null ? {} : { position }),
  };
}

function objectIn(text: string): Record<string, unknown> {
  const value = jsonIn(text.trim() === "" ? "{}" : text, "What the tool is called with");
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Error('What the tool is called with must be an object, such as {"text": "{{message.text}}"}');
  }
  return value as Record<string, unknown>;
}
