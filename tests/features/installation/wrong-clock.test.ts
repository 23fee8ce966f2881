import { eq, sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import {
  accessTokens,
  agents,
  auditLogs,
  conversations,
  eventBacklog,
  files,
  inbox,
  installation,
  invitations,
  jobs,
  oneTimeTokens,
  outbox,
  roomEvents,
  scheduledTasks,
  signInAddresses,
  taskRuns,
  throttles,
  userBudgetPeriods,
  users,
} from "../../../src/db/schema.ts";
import { harness } from "../../harness.ts";

const dayMs = 24 * 60 * 60_000;
const yearMs = 366 * dayMs;

/** A process whose clock is a year ahead of the database's, and rows of all tables from which upkeep deletes by age. */
async function ahead() {
  const h = await harness();
  const { db } = h.services.database;
  await h.agent();
  const [agent] = await db.select().from(agents);
  if (!agent) throw new Error("There is no agent");
  const own = { agentId: agent.id, organizationId: agent.organizationId };
  const conversationId = newId();
  await db
    .insert(conversations)
    .values({ ...own, id: conversationId, ref: "c", channel: "web", channelId: "c", subject: "" });
  await db.insert(installation).values({ id: 1, policies: { retentionDays: 30 } });
  await db.delete(accessTokens);
  await db.delete(auditLogs);
  await db.delete(throttles);
  await h.clock.jump(Date.now() + yearMs - h.clock.now());
  let seq = 0;

  /** Rows from this many days ago by the database's clock; those with an expiry have a day from then. */
  const plant = async (days: number) => {
    const at = sql`now() - ${days} * interval '1 day'`;
    const expiresAt = sql`now() - ${days - 1} * interval '1 day'`;
    const [userId, taskId] = [newId(), newId()];
    seq += 1;
    const place = { agentId: agent.id, channel: "telegram" };
    await db.insert(users).values({ id: userId, email: `${userId}@example.com`, name: "Ada" });
    await db.insert(auditLogs).values({ id: newId(), actorType: "system", action: "a.b", createdAt: at });
    await db.insert(jobs).values({ id: newId(), kind: "gone", status: "failed", failedAt: at });
    const came = { id: newId(), providerId: newId(), conversationId, seq, sender: "1", payload: {} };
    await db.insert(inbox).values({ ...place, ...came, status: "done", createdAt: at });
    await db.insert(outbox).values({ ...place, id: newId(), target: "1", body: "Hi", status: "sent", createdAt: at });
    await db.insert(roomEvents).values({ ...own, id: newId(), outcome: "no-match", receivedAt: at });
    const over = { status: "completed", matchedAt: at, completedAt: at } as const;
    await db.insert(eventBacklog).values({ ...own, id: newId(), ...over });
    const task = { name: "t", prompt: "p", schedule: {}, anchorAt: at };
    await db.insert(scheduledTasks).values({ ...own, ...task, id: taskId });
    const run = { ...own, taskId, triggerType: "schedule", status: "completed", createdAt: at } as const;
    await db.insert(taskRuns).values({ ...run, id: newId(), dueAt: sql`${at} - interval '1 day'` });
    // The last run of a task stays with the task.
    await db.insert(taskRuns).values({ ...run, id: newId(), dueAt: at });
    await db
      .insert(accessTokens)
      .values({ id: newId(), kind: "session", digest: Buffer.from(newId()), userId, expiresAt });
    await db.insert(oneTimeTokens).values({ id: newId(), kind: "setup", digest: Buffer.from(newId()), expiresAt });
    const offer = { organizationId: agent.organizationId, roleKey: "member", invitedByUser: userId };
    await db.insert(invitations).values({ ...offer, id: newId(), userId, expiresAt });
    await db.insert(signInAddresses).values({ userId, client: "192.0.2.1", usedAt: at });
    await db.insert(throttles).values({ key: newId(), count: 1, resetsAt: expiresAt });
    const month = sql`date_trunc('month', (${at}) at time zone 'UTC')::date`;
    await db.insert(userBudgetPeriods).values({ agentId: agent.id, subject: `web:${userId}`, month });
    const file = { name: "f", mime: "text/plain", size: 1, store: "directory", sha256: "" };
    await db
      .insert(files)
      .values({ ...own, ...file, id: newId(), storageKey: newId(), status: "pending", createdAt: at });
  };
  const left = async () => ({
    audit: await db.$count(auditLogs),
    jobs: await db.$count(jobs, eq(jobs.kind, "gone")),
    inbox: await db.$count(inbox),
    outbox: await db.$count(outbox),
    events: await db.$count(roomEvents),
    backlog: await db.$count(eventBacklog),
    olderRuns: (await db.$count(taskRuns)) - (await db.$count(scheduledTasks)),
    sessions: await db.$count(accessTokens),
    links: await db.$count(oneTimeTokens),
    invitations: await db.$count(invitations),
    addresses: await db.$count(signInAddresses),
    throttles: await db.$count(throttles),
    budgets: await db.$count(userBudgetPeriods),
    files: await db.$count(files, eq(files.status, "pending")),
  });
  return { ...h, plant, left };
}

/** The same tables, each with this many rows. */
const each = (count: number, rows: object) => Object.fromEntries(Object.keys(rows).map((table) => [table, count]));

test("a process whose clock is ahead deletes what is old by the database's clock, and nothing young", async () => {
  const h = await ahead();
  await h.plant(0);
  await h.plant(400);
  expect(await h.left()).toEqual(each(2, await h.left()));
  await h.engine.tick();
  expect(await h.left()).toEqual(each(1, await h.left()));
});

test("once its clock is set back, it continues with old rows", async () => {
  const h = await ahead();
  await h.engine.tick();
  h.clock.setBack(yearMs);
  await h.plant(400);
  await h.engine.tick();
  expect(await h.left()).toEqual(each(0, await h.left()));
});
