import type { Db } from "../../../db/client.ts";
import { enqueue } from "../../../jobs/enqueue.ts";
import { tickMs } from "../../../jobs/schedule.ts";
import { dueJob } from "./select.ts";

interface Due {
  id: string;
  organizationId: string;
  nextRunAt: Date | null;
}

/** Enqueues the run of a task that is due before the next tick has looked. Wake the worker after the commit. */
export async function enqueueSoon(tx: Db, { id, organizationId, nextRunAt }: Due, now: Date): Promise<void> {
  if (!nextRunAt || nextRunAt.getTime() > now.getTime() + 2 * tickMs) return;
  await enqueue(tx, dueJob.of({ taskId: id }, nextRunAt), { organizationId });
}
