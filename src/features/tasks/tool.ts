import { and, eq, sql } from "drizzle-orm";
import { type Services, systemCtx } from "../../context/ctx.ts";
import type { ToolSource } from "../../contribution.ts";
import { messengerNames } from "../../core/channels/messengers.ts";
import { subjectKey } from "../../core/channels/subjects.ts";
import { storable } from "../../core/text/text.ts";
import { agents, organizations, scheduledTasks } from "../../db/schema.ts";
import type { ToolContext } from "../../turn/types.ts";
import { localTime, scheduleTask } from "../tools/index.ts";
import { plannedOf } from "./runs/store.ts";
import type { Schedule } from "./schedule.ts";
import { selectTasks, toTask } from "./settings/find.ts";
import type { NewScheduledTask, ScheduledTask } from "./settings/schema.ts";
import { createTask, type TaskOrigin } from "./settings/service.ts";
import type { TaskPerson } from "./settings/shares.ts";

interface Dependencies {
  services: Services;
  /** Tells the worker that a job is due, now or at a time in milliseconds since the epoch. */
  wake(at?: number): void;
}

/** The tool `scheduleTask`, with which the agent schedules its own work. */
export function taskTools({ services, wake }: Dependencies): ToolSource {
  return async ({ id, slug, named }) => {
    if (!named.includes(scheduleTask.name)) return [];
    const tool = scheduleTask.implement(async (input, context) => {
      if (!context.conversation) throw new Error("Nothing of this conversation is stored, so nothing can be scheduled");
      const { timezone, ...organization } = await readHome(services, id);
      const place = await placeFor(services, context.origin);
      const wanted = wantedTask(input, context, { timezone, place });
      const known = await findSame(services, id, wanted);
      const ctx = systemCtx(services, organization, scheduleTask.name);
      const task = known ?? (await createTask(ctx, slug, wanted.task, wanted.origin, personOf(context)));
      if (task.nextRunAt) wake(Date.parse(task.nextRunAt));
      return answerOf(task, timezone);
    });
    return [tool];
  };
}

/**
 * The end user whose task this is: that of the turn, or in a run, that of the run's task, so that tasks can't make
 * tasks without limit. Null for the Room, an event and a run without an end user.
 */
function personOf({ origin: { source, subject }, conversation }: ToolContext): TaskPerson | null {
  const isOfNobody = source !== "user" && subject === subjectKey("conversation", conversation?.ref ?? "");
  return isOfNobody ? null : { subject, isRun: source === "scheduled" };
}

/** The tool's result: the time of the next run, and the destination of its reply. */
function answerOf({ id, nextRunAt, outboundChannel }: ScheduledTask, timezone: string) {
  const nextRun = nextRunAt === null ? null : localTime(new Date(nextRunAt), timezone);
  const reply = outboundChannel === null ? "kept with the task, not sent to anybody" : `sent over ${outboundChannel}`;
  return { id, nextRun, timezone, reply };
}

/** The agent's time zone, and its organization. */
async function readHome({ database }: Services, agentId: string) {
  const [home] = await database.db
    .select({ timezone: agents.timezone, organizationId: organizations.id, organizationSlug: organizations.slug })
    .from(agents)
    .innerJoin(organizations, eq(organizations.id, agents.organizationId))
    .where(eq(agents.id, agentId));
  if (!home) throw new Error("This assistant is being deleted");
  return home;
}

type Input = Parameters<Parameters<typeof scheduleTask.implement>[0]>[0];

interface NewTask {
  task: NewScheduledTask;
  origin: TaskOrigin;
}

type Destination = Pick<NewScheduledTask, "outboundChannel" | "outboundTarget">;

/** Where the result is sent: to the messenger's conversation, or, in a task's run, to the destination of that task. */
async function placeFor({ database }: Services, { channel, channelId }: ToolContext["origin"]): Promise<Destination> {
  const messenger = messengerNames.find((name) => name === channel);
  if (messenger) return { outboundChannel: messenger, outboundTarget: channelId };
  const planned = channel === "scheduled" ? plannedOf(channelId) : null;
  const [task] = planned ? await selectTasks(database.db).where(eq(scheduledTasks.id, planned.taskId)) : [];
  const { outboundChannel = null, outboundTarget = null } = task ? toTask(task) : {};
  return { outboundChannel, outboundTarget };
}

function wantedTask(
  input: Input,
  { origin }: ToolContext,
  { timezone, place }: { timezone: string; place: Destination },
): NewTask {
  return {
    task: {
      name: storable(input.name),
      prompt: storable(input.prompt),
      schedule: scheduleOf(input, timezone),
      enabled: true,
      deleteAfterRun: input.deleteAfterRun ?? input.at !== undefined,
      maxRetries: 3,
      onMissed: "run",
      ...place,
    },
    origin: { source: "agent", subject: origin.subject, userName: origin.userName ?? null },
  };
}

/** Throws an `Error` for the model unless the input has exactly one schedule. */
function scheduleOf({ cron, timezone, everyMinutes, at }: Input, home: string): Schedule {
  const given = [cron, everyMinutes, at].filter((value) => value !== undefined);
  if (given.length !== 1) throw new Error("Give exactly one of cron, everyMinutes and at");
  if (cron !== undefined) return { type: "cron", expression: storable(cron), timezone: timezone ?? home };
  if (everyMinutes !== undefined) return { type: "interval", everyMs: everyMinutes * 60_000 };
  return { type: "one-shot", runAt: new Date(at ?? "").toISOString() };
}

/** A repeated call, for example of a retried turn, finds the task that it made before. */
async function findSame(
  { database }: Services,
  agentId: string,
  { task, origin }: NewTask,
): Promise<ScheduledTask | null> {
  const { name, prompt, schedule, outboundTarget } = task;
  const isSame = and(
    eq(scheduledTasks.agentId, agentId),
    ...[eq(scheduledTasks.source, "agent"), eq(scheduledTasks.enabled, true), eq(scheduledTasks.name, name)],
    ...[eq(scheduledTasks.prompt, prompt), eq(scheduledTasks.subject, origin.subject)],
    sql`${scheduledTasks.schedule} = ${JSON.stringify(schedule)}::jsonb`,
    sql`${scheduledTasks.outboundTarget} is not distinct from ${outboundTarget}`,
  );
  const [row] = await selectTasks(database.db).where(isSame).limit(1);
  return row ? toTask(row) : null;
}
