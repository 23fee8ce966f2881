import { isUuid } from "../../../core/ids.ts";

/** The parts of the name of a run's conversation: the task, and the planned time of the run. */
interface Planned {
  taskId: string;
  dueAt: Date;
}

/** The place of a run's conversation in its channel, `<taskId>:<ms>`. */
export const channelIdOf = ({ taskId, dueAt }: Planned) => `${taskId}:${dueAt.getTime()}`;

/** The public id of a run's conversation (decisions §5). */
export const refOf = (slug: string, run: Planned) => `${slug}:scheduled:${channelIdOf(run)}`;

/** The run that `channelIdOf` names; null for another text. */
export function plannedOf(channelId: string): Planned | null {
  const [taskId = "", ms = ""] = channelId.split(":");
  return isUuid(taskId) && /^\d{1,15}$/.test(ms) ? { taskId, dueAt: new Date(Number(ms)) } : null;
}
