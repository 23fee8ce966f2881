import { api } from "../../../../data/api.ts";
import { useList } from "../../../../data/list.ts";
import { List } from "../../../../ui/list/list.tsx";
import type { TabProps } from "../tab-props.ts";
import { ownZone } from "./schedule.ts";
import { TaskCard } from "./task-card.tsx";
import { TaskDialog } from "./task-dialog.tsx";

/** The zone of an agent for which nobody chose one. */
const unchosenZone = "UTC";

/** What the agent does at set times. */
export function Tasks({ agent: { slug, timezone } }: TabProps) {
  const tasks = useList("scheduledTasks", () => api.listScheduledTasks({ slug }), [slug], { everyMs: 10_000 });
  return (
    <div class="form">
      <List
        of={tasks}
        empty={["No tasks yet", "A task has the agent do something once, at times of a calendar, or every so often."]}
        add={{ label: "New task", to: "agent.task:write" }}
        dialog={(task, props) => (
          <TaskDialog slug={slug} timezone={timezone === unchosenZone ? ownZone() : timezone} task={task} {...props} />
        )}
      >
        {(items, edit) =>
          items.map((task) => (
            <TaskCard key={task.id} slug={slug} task={task} onEdit={() => edit(task)} onChange={tasks.reload} />
          ))
        }
      </List>
    </div>
  );
}
