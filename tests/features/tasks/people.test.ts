import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import type { SubjectKey } from "../../../src/core/channels/subjects.ts";
import { newId } from "../../../src/core/ids.ts";
import { agents, auditLogs, conversations, scheduledTasks } from "../../../src/db/schema.ts";
import type { Origin, ToolContext } from "../../../src/turn/types.ts";
import { reply } from "../../scripted-model.ts";
import { toolContext } from "../../turn/input.ts";
import { answering } from "../inbox/answering.ts";
import { telegram, withTool } from "./scheduling.ts";
import { hourly } from "./tasks.ts";

const full = "This person has 5 tasks already, which is the most";
const often = "A task for a person runs at most every 15 minutes";

type Db = Awaited<ReturnType<typeof withTool>>["db"];

/** Tasks that the agent made for these subjects. */
async function plant(
  db: Db,
  subjects: readonly SubjectKey[],
  fields: Partial<typeof scheduledTasks.$inferInsert> = {},
) {
  const [agent] = await db.select().from(agents);
  const of = { agentId: agent?.id ?? "", organizationId: agent?.organizationId ?? "", name: "Tea", prompt: "Tea?" };
  const rows = subjects.map((subject) => ({
    ...of,
    id: newId(),
    subject,
    source: "agent" as const,
    schedule: hourly,
    anchorAt: new Date(0),
    ...fields,
  }));
  await db.insert(scheduledTasks).values(rows);
}

const subjectsLeft = async (db: Db) =>
  (await db.select({ subject: scheduledTasks.subject }).from(scheduledTasks)).map(({ subject }) => subject).sort();

async function withPeople() {
  const h = await withTool();
  const as = (origin: Partial<Origin>, more: Partial<ToolContext> = {}) =>
    h.contextOf({ origin: { ...toolContext().origin, ...telegram, ...origin }, ...more });
  const remind = (nth: number, context?: ToolContext) => h.call({ name: `Tea ${nth}`, everyMinutes: 60 }, context);
  return { ...h, as, remind };
}

describe("the tasks of a person", () => {
  test("are at most five per agent, also when they are made at once, and the model is told so", async () => {
    const h = await withPeople();
    const made = await Promise.allSettled(Array.from({ length: 8 }, (_, nth) => h.remind(nth)));
    expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(5);
    await expect(h.remind(9)).rejects.toThrow(full);
    // Another person with the same id, and the operator, have their own.
    await h.remind(10, h.as({ channel: "web", subject: "web:42" }));
    await h.create();
    const tasks = await h.list();
    expect(tasks).toHaveLength(7);
    // The same call again finds the existing task.
    await h.call({ name: String(tasks[0]?.name), everyMinutes: 60 });
    await h.db.delete(scheduledTasks).where(eq(scheduledTasks.id, String(tasks[0]?.id)));
    await h.remind(11);
  });

  test("don't count once they are over", async () => {
    const h = await withPeople();
    const schedule = { type: "one-shot", runAt: "2025-12-31T08:00:00Z" };
    await plant(
      h.db,
      Array.from({ length: 5 }, () => "telegram:42" as const),
      { schedule, nextRunAt: null },
    );
    await h.remind(1);
    expect(await h.list()).toHaveLength(6);
  });

  test("are listed with the person they are for", async () => {
    const h = await withPeople();
    await h.remind(1);
    await h.create();
    expect(await h.list()).toMatchObject([
      { source: "agent", subject: "42", subjectChannel: "telegram", userName: "Ada" },
      { source: "api", subject: "", subjectChannel: null, userName: null },
    ]);
  });

  test.each([
    [{ everyMinutes: 14 }],
    [{ everyMinutes: 1 }],
    [{ cron: "* * * * *" }],
    [{ cron: "*/14 * * * *" }],
    [{ cron: "0,59 * * * *" }],
    [{ cron: "0,10 9 1 1 *" }],
    [{ cron: "0,50 0,23 * * *" }],
  ])("are due at most every 15 minutes: not %j", async (times) => {
    const h = await withPeople();
    await expect(h.call(times)).rejects.toThrow(often);
    expect(await h.list()).toEqual([]);
  });

  test.each([
    [{ everyMinutes: 15 }],
    [{ cron: "*/15 * * * *" }],
    [{ cron: "0 9 29 2 *" }],
    [{ cron: "@daily" }],
  ])("are due as rarely as every 15 minutes: %j", async (times) => {
    const h = await withPeople();
    await h.call(times);
    expect(await h.list()).toHaveLength(1);
  });

  test("make no others sooner than in 15 minutes, where a person may be reminded at any time", async () => {
    const h = await withPeople();
    const run = h.as({ channel: "scheduled", source: "scheduled" }, { conversation: { id: newId(), ref: "own" } });
    const at = (minutes: number) => ({ at: new Date(h.clock.now() + minutes * 60_000).toISOString() });
    await expect(h.call(at(14), run)).rejects.toThrow(often);
    await h.call(at(15), run);
    await h.call(at(1));
    // A run without a person may do what its operator wants.
    const nobody = { source: "scheduled", subject: "conversation:own" } as const;
    await h.call({ everyMinutes: 1 }, h.as(nobody, { conversation: { id: newId(), ref: "own" } }));
    expect(await h.list()).toHaveLength(3);
  });

  test("leave 20 of an agent's 100 tasks to the API", async () => {
    const h = await withPeople();
    await plant(
      h.db,
      Array.from({ length: 80 }, (_, nth) => `conversation:x:web:api-${nth}` as const),
    );
    await expect(h.remind(1)).rejects.toThrow("An agent makes at most 80 scheduled tasks itself");
    for (let nth = 0; nth < 20; nth += 1) await h.create({ name: `Report ${nth}` });
    await expect(h.create()).rejects.toThrow("at most 100 scheduled tasks");
  });
});

describe("the tasks of a person end", () => {
  const all = ["", "conversation:", "telegram:42", "telegram:43", "web:42"] as const;

  test("once the person stops the agent, and no others", async () => {
    const h = await answering(() => reply("Yes."), { agent: { optoutEnabled: true } });
    const { db } = h.services.database;
    await plant(db, all);
    await h.say("Hello");
    await h.settle();
    await h.say("STOP");
    expect(await subjectsLeft(db)).toEqual(all.filter((subject) => subject !== "telegram:42").toSorted());
    const [entry] = await db.select().from(auditLogs).where(eq(auditLogs.action, "agent.task.delete"));
    expect(entry).toMatchObject({ actorType: "system", actorName: "opt-out", summary: { reason: "opt-out" } });
  });

  test.each(["PATCH", "PUT"])("of the open web, once authentication is turned on by %s", async (method) => {
    const h = await withTool();
    const path = `/api/instances/${h.own.slug}${method === "PUT" ? "/channels/web" : ""}`;
    const set = async (on: boolean) => {
      const json = method === "PUT" ? { config: { requireAuthentication: on } } : { authEnabled: on };
      expect((await h.request(path, { method, headers: h.own.headers, json })).status).toBe(200);
    };
    await set(false);
    const theirs = [`conversation:${h.own.slug}:web:api-1`, `conversation:${h.own.slug}:web:api-2`] as const;
    await plant(h.db, [...all, ...theirs]);
    await plant(h.db, theirs, { source: "api" });
    await set(false);
    expect(await subjectsLeft(h.db)).toHaveLength(9);
    await set(true);
    expect(await subjectsLeft(h.db)).toEqual([...all, ...theirs].toSorted());
    await plant(h.db, theirs);
    await set(true);
    expect(await subjectsLeft(h.db)).toHaveLength(9);
  });

  test("with the conversation that stands for its user, and with no other one", async () => {
    const h = await withTool();
    const { slug, headers } = h.own;
    const { id: agentId, organizationId } = h.agent;
    const of = { agentId, organizationId, channel: "web" } as const;
    const refs = [`${slug}:web:api-1`, `${slug}:web:api-2`] as const;
    for (const ref of refs) {
      await h.db
        .insert(conversations)
        .values({ ...of, id: newId(), ref, channelId: ref, subject: `conversation:${ref}` });
    }
    await plant(h.db, [...all, `conversation:${refs[0]}`, `conversation:${refs[1]}`]);
    const { status } = await h.request(`/api/conversations/${refs[0]}`, { method: "DELETE", headers });
    expect(status).toBe(200);
    expect(await subjectsLeft(h.db)).toEqual([...all, `conversation:${refs[1]}`].toSorted());
  });
});
