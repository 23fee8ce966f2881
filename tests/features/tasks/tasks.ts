import { asc } from "drizzle-orm";
import { jobs, taskRuns } from "../../../src/db/schema.ts";
import { createEngine } from "../../../src/engine.ts";
import { harness } from "../../harness.ts";
import { scriptedModel } from "../../scripted-model.ts";
import { eventually } from "../chat/chat.ts";

type Json = Record<string, unknown>;

type Options = NonNullable<Parameters<typeof harness>[0]>;

export const hour = 3_600_000;
export const minute = 60_000;

/** Every whole hour in Rome. */
export const hourly = { type: "cron", expression: "0 * * * *", timezone: "Europe/Rome" };

/** A task as the API shows it. */
export interface Shown extends Json {
  id: string;
  nextRunAt: string | null;
  lastRun: { status: string; at: string } | null;
}

/** A run as the API shows it. */
export interface ShownRun extends Json {
  id: string;
  status: string;
  triggerType: string;
  dueAt: string;
  error: string | null;
}

/** An agent with a scripted model, and calls of its tasks. The test's clock begins at the first moment of 2026. */
export async function withTasks(script: Parameters<typeof scriptedModel>[0] = [], options: Options = {}) {
  const model = scriptedModel(script);
  const h = await harness({ model, ...options });
  const agent = await h.agent({ provider: "openai", model: "gpt-x" });
  // A session would expire within a year.
  const keys = `/api/organizations/${h.organization.slug}/management-keys`;
  const issued = await h.request(keys, { method: "POST", headers: agent.headers, json: { name: "test" } });
  const { key } = (await issued.json()) as { key: string };
  const own = { ...agent, headers: { Authorization: `Bearer ${key}` } };
  const { db } = h.services.database;
  const at = `/api/instances/${own.slug}/scheduled-tasks`;
  const call = (method: string, path = "", json?: unknown) =>
    h.request(`${at}${path}`, { method, headers: own.headers, ...(json === undefined ? {} : { json }) });
  const answer = async <T>(response: Promise<Response>, status: number): Promise<T> => {
    const body = await (await response).json();
    if ((await response).status !== status) throw new Error(`${(await response).status}: ${JSON.stringify(body)}`);
    return body as T;
  };
  const readJobs = () => db.select().from(jobs);
  const rested = () => eventually(async () => (await readJobs()).every(({ lockedUntil }) => lockedUntil === null));
  const tick = async () => {
    await h.engine.tick();
    await rested();
  };
  return {
    /** Another agent of the organization. */
    another: h.agent,
    /** Another process on the same database. */
    replica: () => createEngine(h.services),
    ...h,
    db,
    model,
    own,
    call,
    readJobs,
    rested,
    tick,
    create: (json: Json = {}) =>
      answer<Shown>(call("POST", "", { name: "Report", prompt: "Report now.", schedule: hourly, ...json }), 201),
    update: (id: string, json: Json) => answer<Shown>(call("PATCH", `/${id}`, json), 200),
    read: (id: string) => answer<Shown>(call("GET", `/${id}`), 200),
    list: async () => (await answer<{ scheduledTasks: Shown[] }>(call("GET"), 200)).scheduledTasks,
    runNow: async (id: string) => (await answer<{ id: string }>(call("POST", `/${id}/run`), 201)).id,
    /** The newest first. */
    runs: async (id: string) => (await answer<{ runs: ShownRun[] }>(call("GET", `/${id}/runs?limit=100`), 200)).runs,
    rows: () => db.select().from(taskRuns).orderBy(asc(taskRuns.dueAt)),
    /** Moves the clock, with the scheduler's ticks, until no job runs or is due. */
    pass: async (ms: number) => {
      await rested();
      await h.clock.jump(ms);
      await tick();
      await eventually(async () => {
        await h.engine.tick();
        return !(await readJobs()).some(
          ({ status, runAt }) => status === "pending" && runAt.getTime() <= h.clock.now(),
        );
      });
      await rested();
    },
    active: async (active: boolean) => {
      const path = `/api/instances/${own.slug}`;
      await answer(h.request(path, { method: "PATCH", headers: own.headers, json: { active } }), 200);
    },
    /** Turns a tool on, with or without the need for approval of each call. */
    enable: async (tool: string, { approval = false } = {}) => {
      const path = `/api/instances/${own.slug}/tools`;
      const json = { enabled: [tool], needsApproval: approval ? [tool] : [] };
      await answer(h.request(path, { method: "PATCH", headers: own.headers, json }), 200);
    },
  };
}
