import { and, eq, sql } from "drizzle-orm";
import { audit } from "../../../context/audit.ts";
import type { Services } from "../../../context/ctx.ts";
import { newId } from "../../../core/ids.ts";
import { clip, storable } from "../../../core/text/text.ts";
import type { Database, Db } from "../../../db/client.ts";
import { unlessDeadlocked } from "../../../db/retry.ts";
import { conversations, scheduledTasks, taskRuns } from "../../../db/schema.ts";
import { isOpen, type OpenRun } from "./store.ts";

/** How a run ended. */
export interface RunEnd {
  status: "completed" | "failed" | "skipped";
  output: string | null;
  /** The error, without secrets. */
  error: string | null;
}

/** The longest stored output of a run, in UTF-16 units; the conversation contains all of it. */
const longestOutput = 64 * 1024;

interface RunAttempt {
  attempts: number;
  /** When the run begins; absent for a run that has begun. */
  now?: Date;
  /** Why the run is retried. */
  error?: string;
}

/** Stores an attempt at a run. Returns false when the run has ended, or its task was deleted. */
export async function noteAttempt(
  { db }: Database,
  runId: string,
  { attempts, now, error }: RunAttempt,
): Promise<boolean> {
  const begun = now ? { startedAt: sql`coalesce(${taskRuns.startedAt}, ${now.toISOString()}::timestamptz)` } : {};
  const noted = await db
    .update(taskRuns)
    .set({ ...begun, status: "running", attempts, ...(error === undefined ? {} : { error }) })
    .where(and(eq(taskRuns.id, runId), isOpen))
    .returning({ id: taskRuns.id });
  return noted.length > 0;
}

/** Stores that a run's turn waits for approval. The turn that continues it ends the run. */
export async function noteWaiting({ db }: Database, runId: string): Promise<void> {
  const error = "Somebody has to approve a call of the agent";
  await db
    .update(taskRuns)
    .set({ error })
    .where(and(eq(taskRuns.id, runId), isOpen));
}

/** Ends a run, and deletes its task if the task is to be deleted after its run. Does nothing when the run has ended. */
export async function endRun({ database, clock }: Services, { run, slug }: OpenRun, ending: RunEnd): Promise<void> {
  const completedAt = new Date(clock.now());
  await unlessDeadlocked(() =>
    database.transaction(async (tx) => {
      const own = eq(scheduledTasks.id, run.taskId);
      const [task] = await tx.select().from(scheduledTasks).where(own).for("no key update");
      const output = (await isDeleted(tx, run)) ? null : shorten(ending.output);
      const ended = await tx
        .update(taskRuns)
        .set({ ...ending, output, completedAt })
        .where(and(eq(taskRuns.id, run.id), isOpen))
        .returning({ id: taskRuns.id });
      if (!task?.deleteAfterRun || ended.length === 0 || ending.status !== "completed") return;
      await tx.delete(scheduledTasks).where(own);
      const { agentId, organizationId, id: taskId, name } = task;
      await audit(tx, {
        action: "agent.task.delete",
        target: slug,
        agentId,
        organizationId,
        actor: { type: "system", id: null, name: "deleteAfterRun" },
        summary: { taskId, name },
        request: { id: newId(), ip: "" },
      });
    }),
  );
}

const shorten = (output: string | null) => output && clip(storable(output), longestOutput);

/** Whether a run's conversation was deleted: its reply must be deleted, too. Locks an existing conversation. */
async function isDeleted(tx: Db, { conversationRef }: OpenRun["run"]): Promise<boolean> {
  const own = eq(conversations.ref, conversationRef ?? "");
  const [kept] = await tx.select({ id: conversations.id }).from(conversations).where(own).for("key share");
  return kept === undefined;
}
