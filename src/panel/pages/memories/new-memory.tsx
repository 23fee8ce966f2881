import type { Instance } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useForm } from "../../data/form.ts";
import { FormDialog } from "../../ui/dialog/form-dialog.tsx";
import { type EndUserChannel, endUserChannels } from "../../ui/end-user.ts";
import { Choice, TextArea, TextField } from "../../ui/form/field.tsx";
import { NumberField } from "../../ui/form/number-field.tsx";
import { tell } from "../../ui/toast.tsx";

interface Props {
  agents: readonly Instance[];
  /** The one that is looked at; empty: all are. */
  agent: string;
  onSaved: () => void;
  onClose: () => void;
}

/** Tells an agent something to remember. */
export function NewMemoryDialog({ agents, agent, onSaved, onClose }: Props) {
  const first = agent || (agents[0]?.slug ?? "");
  const blank = {
    instanceId: first,
    content: "",
    subject: "",
    subjectChannel: "web" as EndUserChannel,
    category: "general",
    importance: 5,
  };
  const form = useForm("new-memory", blank, async () => {
    const { event } = await api.createMemory({ body: form.values });
    tell(event === "ADD" ? "It is remembered" : "A memory that said nearly the same is brought up to date");
    onSaved();
    onClose();
  });
  const { values, set, problem } = form;
  return (
    <FormDialog title="New memory" action="Remember" state={form} onSubmit={() => void form.save()} onClose={onClose}>
      <Choice
        label="Agent"
        value={values.instanceId}
        choices={agents.map(({ slug, name }) => ({ value: slug, label: name }))}
        onValue={(instanceId) => set({ instanceId })}
      />
      <TextArea
        label="Fact"
        required
        rows={3}
        hint="One sentence, such as: Prefers tea without sugar."
        value={values.content}
        problem={problem("content")}
        onValue={(content) => set({ content })}
      />
      <div class="columns">
        <TextField
          label="End user"
          optional
          hint="Empty: every conversation may recall it."
          value={values.subject}
          problem={problem("subject")}
          onValue={(subject) => set({ subject })}
        />
        <Choice
          label="Channel of the end user"
          value={values.subjectChannel}
          choices={endUserChannels}
          onValue={(channel) => set({ subjectChannel: channel as EndUserChannel })}
        />
        <TextField
          label="Category"
          value={values.category}
          problem={problem("category")}
          onValue={(category) => set({ category })}
        />
        <NumberField
          label="Weight, 1 to 10"
          value={values.importance}
          problem={problem("importance")}
          onNumber={(importance) => set({ importance })}
        />
      </div>
    </FormDialog>
  );
}
