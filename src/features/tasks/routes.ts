import { errorAnswers, guarded, json, jsonBody, router } from "../../http/route.ts";
import { Deleted } from "../../http/shapes.ts";
import { slugParam } from "../agents/index.ts";
import { BegunRun, TaskRunPage, TaskRunQuery } from "./runs/schema.ts";
import { listRuns, runNow } from "./runs/service.ts";
import {
  NewScheduledTask,
  ScheduledTask,
  ScheduledTaskChanges,
  ScheduledTaskPage,
  ScheduledTaskQuery,
  taskPath,
} from "./settings/schema.ts";
import { createTask, deleteTask, getTask, listTasks, updateTask } from "./settings/service.ts";

const tags = ["Scheduled tasks"];
const path = "/api/instances/{slug}/scheduled-tasks";

const list = guarded("agent.task:read", {
  method: "get",
  path,
  operationId: "listScheduledTasks",
  tags,
  summary: "Tasks of an agent",
  description:
    "The oldest first: those that people made, and those that the agent made by its tool `scheduleTask`, with the end user for whom it did. Those of an end user end when the person stops the agent, when the conversation that stands for the person is deleted and, for people who needed no key, when `authEnabled` is turned on.",
  request: { params: slugParam, query: ScheduledTaskQuery },
  responses: { 200: json(ScheduledTaskPage, "A page of the tasks."), ...errorAnswers(404) },
});

const get = guarded("agent.task:read", {
  method: "get",
  path: `${path}/{id}`,
  operationId: "getScheduledTask",
  tags,
  summary: "One task",
  description: "What the agent does, when it is due next, and how the newest run ended.",
  request: { params: taskPath },
  responses: { 200: json(ScheduledTask, "The task."), ...errorAnswers(404) },
});

const create = guarded("agent.task:write", {
  method: "post",
  path,
  operationId: "createScheduledTask",
  tags,
  summary: "Have an agent do something at set times",
  description: `Each run is a turn in a conversation of its own, \`<slug>:scheduled:<taskId>:<ms>\`, that begins with the task's prompt. What the agent says in the end goes to the outbound place, if there is one. An agent has at most 100 tasks, of which it makes at most 80 itself; of those that it made for one time, the oldest whose time has passed makes room for a new one.

\`cron\` names local times of a time zone in five fields. Fixed times run once a day also where clocks change: one that is skipped runs right after the gap, one that comes twice runs the first time. Times that repeat (\`*\`, steps) run when the clock shows them. \`interval\` counts from the creation, and knows no clocks. \`one-shot\` runs once.

Times that pass while no server runs, or while the agent is inactive, are recorded as \`missed\`; \`onMissed\` says whether the last one is run late. A time at which an earlier run of the task has not ended is \`skipped\`. So is a run of a task that the agent made when somebody in a private chat asked for it, once that person is not in the channel's \`allowedUserIds\` any more.`,
  request: { params: slugParam, body: jsonBody(NewScheduledTask) },
  responses: { 201: json(ScheduledTask, "The task."), ...errorAnswers(404, 409) },
});

const update = guarded("agent.task:write", {
  method: "patch",
  path: `${path}/{id}`,
  operationId: "updateScheduledTask",
  tags,
  summary: "Change a task",
  description:
    "What is not given stays; `schedule` is replaced as a whole. Another schedule counts from now on, and so does a task that is enabled again: no time before is missed.",
  request: { params: taskPath, body: jsonBody(ScheduledTaskChanges) },
  responses: { 200: json(ScheduledTask, "The task as it is now."), ...errorAnswers(404) },
});

const remove = guarded("agent.task:write", {
  method: "delete",
  path: `${path}/{id}`,
  operationId: "deleteScheduledTask",
  tags,
  summary: "Delete a task",
  description: "Its runs go with it. Their conversations stay, and a run that has begun goes on to its end.",
  request: { params: taskPath },
  responses: { 200: json(Deleted, "It is gone."), ...errorAnswers(404) },
});

const run = guarded("agent.task:write", {
  method: "post",
  path: `${path}/{id}/run`,
  operationId: "runScheduledTask",
  tags,
  summary: "Run a task now",
  description:
    "Also one that is not enabled; its schedule stays as it is. 409 while a run of it has not ended, and while the agent is inactive.",
  request: { params: taskPath },
  responses: { 201: json(BegunRun, "It will run at once."), ...errorAnswers(404, 409) },
});

const runs = guarded("agent.task:read", {
  method: "get",
  path: `${path}/{id}/runs`,
  operationId: "listTaskRuns",
  tags,
  summary: "Runs of a task",
  description:
    "The newest first, with those that were missed or skipped. They are kept for 90 days, and each task's last one as long as the task.",
  request: { params: taskPath, query: TaskRunQuery },
  responses: { 200: json(TaskRunPage, "A page of the runs."), ...errorAnswers(404) },
});

/** `/api/instances/{slug}/scheduled-tasks`. `wake` starts jobs that are due, now or at a time. */
export function taskRoutes(wake: (at?: number) => void) {
  const soon = ({ nextRunAt }: ScheduledTask) => {
    if (nextRunAt !== null) wake(Date.parse(nextRunAt));
  };
  return router()
    .openapi(list, async (c) =>
      c.json(await listTasks(c.var.ctx, c.req.valid("param").slug, c.req.valid("query")), 200),
    )
    .openapi(get, async (c) => {
      const { slug, id } = c.req.valid("param");
      return c.json(await getTask(c.var.ctx, slug, id), 200);
    })
    .openapi(create, async (c) => {
      const task = await createTask(c.var.ctx, c.req.valid("param").slug, c.req.valid("json"));
      soon(task);
      return c.json(task, 201);
    })
    .openapi(update, async (c) => {
      const { slug, id } = c.req.valid("param");
      const task = await updateTask(c.var.ctx, slug, id, c.req.valid("json"));
      soon(task);
      return c.json(task, 200);
    })
    .openapi(remove, async (c) => {
      const { slug, id } = c.req.valid("param");
      await deleteTask(c.var.ctx, slug, id);
      return c.json({ deleted: true as const }, 200);
    })
    .openapi(run, async (c) => {
      const { slug, id } = c.req.valid("param");
      const runId = await runNow(c.var.ctx, slug, id);
      wake();
      return c.json({ id: runId }, 201);
    })
    .openapi(runs, async (c) => {
      const { slug, id } = c.req.valid("param");
      return c.json(await listRuns(c.var.ctx, slug, id, c.req.valid("query")), 200);
    });
}
