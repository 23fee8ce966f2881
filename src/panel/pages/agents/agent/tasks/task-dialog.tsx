import { useRef } from "preact/hooks";
import type { NewScheduledTask, ScheduledTask } from "../../../../../client/index.ts";
import { api } from "../../../../data/api.ts";
import { useForm } from "../../../../data/form.ts";
import { FormDialog } from "../../../../ui/dialog/form-dialog.tsx";
import { Choice, Switch, TextArea, TextField } from "../../../../ui/form/field.tsx";
import { NumberField } from "../../../../ui/form/number-field.tsx";
import { tell } from "../../../../ui/toast.tsx";
import { type Outbound, OutboundFields } from "../outbound.tsx";
import { everyProblem, scheduleOf, usualSchedule, type WrittenSchedule, writtenSchedule } from "./schedule.ts";
import { ScheduleFields } from "./schedule-fields.tsx";

interface Props {
  slug: string;
  /** Of a new schedule. */
  timezone: string;
  /** Null: a new one. */
  task: ScheduledTask | null;
  onSaved: () => void;
  onClose: () => void;
}

interface Written
  extends Outbound,
    Pick<ScheduledTask, "name" | "prompt" | "deleteAfterRun" | "maxRetries" | "onMissed"> {
  schedule: WrittenSchedule;
}

const blank = (timezone: string): Written => ({
  ...{ name: "", prompt: "", deleteAfterRun: false, maxRetries: 3, onMissed: "run" },
  ...{ outboundChannel: null, outboundTarget: null, schedule: usualSchedule(timezone) },
});

/** Makes or changes a task. */
export function TaskDialog({ slug, timezone, task, onSaved, onClose }: Props) {
  const stored = useRef<Written>(
    task ? { ...task, schedule: writtenSchedule(task.schedule, timezone) } : blank(timezone),
  ).current;
  const form = useForm<Written>(`task.${slug}.${task?.id ?? "new"}`, stored, async (changes) => {
    const body = bodyOf(form.values);
    const schedule = scheduleOf(form.values.schedule);
    // A schedule that nobody touched stays as it is stored: the fields have no seconds, and its time may have passed.
    const timed = changes.schedule ? { schedule } : {};
    if (task) await api.updateScheduledTask({ slug, id: task.id, body: { ...body, ...timed } });
    else await api.createScheduledTask({ slug, body: { ...body, schedule } });
    tell("Saved");
    onSaved();
    onClose();
  });
  const { values, set, problem } = form;
  const { name, prompt, schedule, deleteAfterRun, maxRetries, onMissed } = values;
  return (
    <FormDialog
      title={task ? `Edit ${task.name}` : "New task"}
      wide
      action="Save"
      state={form}
      say={(path, message) =>
        path === "schedule.everyMs" ? `Every: ${everyProblem(message, schedule.unit)}` : undefined
      }
      onSubmit={() => void form.save()}
      onClose={onClose}
    >
      <TextField
        label="Name"
        required
        autofocus
        placeholder="Morning report"
        value={name}
        problem={problem("name")}
        onValue={(text) => set({ name: text })}
      />
      <TextArea
        label="What the agent is told"
        required
        rows={4}
        hint="It knows nothing of earlier runs."
        value={prompt}
        problem={problem("prompt")}
        onValue={(text) => set({ prompt: text })}
      />
      <ScheduleFields
        schedule={schedule}
        problem={(field) => problem(`schedule.${field}`)}
        onSchedule={(changes) => set({ schedule: { ...schedule, ...changes } })}
      />
      <OutboundFields values={values} problem={problem} onValues={set} />
      <div class="columns">
        <NumberField
          label="Further tries of a run that failed"
          value={maxRetries}
          problem={problem("maxRetries")}
          onNumber={(value) => set({ maxRetries: value })}
        />
        <Choice
          label="A time that passed while nothing could run"
          value={onMissed}
          choices={[
            { value: "run", label: "is run late, the last one" },
            { value: "skip", label: "is only written down" },
          ]}
          onValue={(what) => set({ onMissed: what as Written["onMissed"] })}
        />
      </div>
      <Switch
        label="Delete the task after its first run"
        checked={deleteAfterRun}
        onChecked={(checked) => set({ deleteAfterRun: checked })}
      />
    </FormDialog>
  );
}

/** What the API takes beside the schedule. */
function bodyOf(values: Written): Omit<NewScheduledTask, "schedule"> {
  const { name, prompt, deleteAfterRun, maxRetries, onMissed, outboundChannel, outboundTarget } = values;
  return { name, prompt, deleteAfterRun, maxRetries, onMissed, outboundChannel, outboundTarget };
}
