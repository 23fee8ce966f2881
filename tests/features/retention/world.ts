import { randomBytes } from "node:crypto";
import { eq, sql } from "drizzle-orm";
import { editionOf } from "../../../src/core/edition.ts";
import { firstIdAt, newId } from "../../../src/core/ids.ts";
import {
  agents,
  auditLogs,
  conversations,
  files,
  hookExecutions,
  memories,
  messages,
  retentionPolicies,
  roomEvents,
  scheduledTasks,
  taskRuns,
  turns,
  usageRollups,
} from "../../../src/db/schema.ts";
import { harness } from "../../harness.ts";
import { eventually } from "../chat/chat.ts";

const administration = editionOf({ EDITION: "managed", FEATURES: ["administration"] });

const dayMs = 86_400_000;
export const path = "/api/organizations/acme/retention";

export const subjects = [
  ...["conversations", "memories", "files", "room_events"],
  ...["task_runs", "hook_executions", "governance_verdicts", "turns"],
];

/** The counts of all subjects; zero unless given. */
export const counts = (given: Record<string, number> = {}) => ({
  ...Object.fromEntries(subjects.map((subject) => [subject, 0])),
  ...given,
});

/** One row of each subject. */
export const oneOfEach = counts({
  ...{ conversations: 1, memories: 1, files: 1, room_events: 1, task_runs: 1, hook_executions: 1, turns: 1 },
});

interface Place {
  agentId: string;
  organizationId: string;
  slug: string;
}

/** An organization with an agent, whose Owner calls, and rows of any age. The clock is the database's. */
export async function retentionHarness(options: Parameters<typeof harness>[0] = {}) {
  const h = await harness({ edition: administration, ...options });
  const { db } = h.services.database;
  await h.clock.jump(Date.now() - h.clock.now());
  const owner = await h.as("owner");
  await db.insert(usageRollups).values({ until: sql`now()` });

  const placeOf = async (slug: string): Promise<Place> => {
    const [row] = await db.select().from(agents).where(eq(agents.slug, slug));
    if (!row) throw new Error("There is no agent");
    return { agentId: row.id, organizationId: row.organizationId, slug };
  };
  const { slug } = await h.agent();
  const home = await placeOf(slug);

  const call = async (method: string, address: string, body?: object, headers = owner) => {
    const response = await h.request(address, { method, headers, ...(body ? { json: body } : {}) });
    return { status: response.status, body: await response.json() };
  };
  const put = (days: number, wanted: readonly string[] = subjects) =>
    call("PUT", path, { policies: wanted.map((subject) => ({ subject, enabled: true, days })) });
  const preview = async (body?: object) => (await call("POST", `${path}/preview`, body)).body.counts;
  /** Lets all policies be due. */
  const hasten = () => db.update(retentionPolicies).set({ nextRunAt: sql`now() - interval '1 second'` });
  /** Lets half a minute pass, with upkeep, and waits until no job is left. A failed job is tried again at once. */
  const pass = async (engine = h.engine) => {
    for (;;) {
      await h.clock.jump(30_000);
      await engine.tick();
      const [ended] = await eventually(async () => {
        const rows = await db.execute<{ running: boolean }>(sql`
          select locked_until is not null or attempts = 0 as running from jobs where kind = 'retention.purge'`);
        return rows[0]?.running ? null : [rows.length === 0];
      });
      if (ended) return;
    }
  };
  const purge = async () => {
    await hasten();
    await pass();
  };
  return { ...h, db, owner, home, placeOf, call, put, preview, hasten, pass, purge };
}

export type RetentionHarness = Awaited<ReturnType<typeof retentionHarness>>;

/** An id as of this time. */
const idAt = (at: Date) =>
  firstIdAt(at.getTime()).slice(0, 15) + `7000-8000-${randomBytes(6).toString("hex")}`.slice(1);

type Fields = Partial<typeof conversations.$inferInsert>;

/** A conversation of this age in days, with a row of each subject, and an older run of its task. */
export async function plant(
  { db }: Pick<RetentionHarness, "db">,
  { agentId, organizationId, slug }: Place,
  days: number,
  fields: Fields = {},
) {
  const at = new Date(Date.now() - days * dayMs);
  // Turns of the current month stay, and finished events only for 30 days.
  const turnAt = new Date(at.getTime() - (days > 20 ? 40 * dayMs : 0));
  const own = { agentId, organizationId };
  const id = idAt(at);
  const channelId = newId();
  const ref = `${slug}:web:${channelId}`;
  const chat = { channel: "web", channelId, subject: "web:ada" as const, messageCount: 1 };
  await db.insert(conversations).values({ ...own, ...chat, id, ref, createdAt: at, updatedAt: at, ...fields });
  await db.insert(messages).values({ conversationId: id, seq: 1, role: "user", content: "Hello", createdAt: at });
  const [turnId, fileId, taskId] = [newId(), newId(), newId()];
  const turn = {
    conversationId: id,
    subject: "web:ada",
    status: "done",
    owner: newId(),
    leaseUntil: new Date(Date.now() + dayMs),
    door: "native",
  } as const;
  await db.insert(turns).values({ ...own, ...turn, id: turnId, createdAt: turnAt, finishedAt: turnAt });
  const hook = { turnId, hookId: newId(), position: 0, event: "x", toolName: "t", success: true, durationMs: 1 };
  await db.insert(hookExecutions).values({ ...hook, conversationId: id, createdAt: at });
  const file = { name: "a", mime: "text/plain", size: 1, sha256: "00", store: "directory", storageKey: fileId };
  await db.insert(files).values({ ...own, ...file, id: fileId, conversationId: id, status: "stored", createdAt: at });
  const memory = { content: newId(), digest: randomBytes(32), search: sql`''::tsvector` as never, updatedAt: at };
  await db.insert(memories).values({ ...own, ...memory, subject: "web:ada", sourceConversationId: id });
  await db.insert(roomEvents).values({ ...own, outcome: "no-match", receivedAt: at, conversationRef: ref });
  const task = { name: "t", prompt: "p", schedule: {}, anchorAt: at, createdAt: at };
  await db.insert(scheduledTasks).values({ ...own, ...task, id: taskId });
  const run = { ...own, taskId, triggerType: "schedule", status: "completed", createdAt: at } as const;
  await db.insert(taskRuns).values({ ...run, dueAt: new Date(at.getTime() - 60_000), conversationRef: ref });
  // The last run of a task stays with the task.
  await db.insert(taskRuns).values({ ...run, dueAt: at, conversationRef: ref });
  return { id, ref, turnId, fileId, taskId };
}

/** Conversations of this age without anything else. */
export async function plantConversations(
  { db }: Pick<RetentionHarness, "db">,
  { agentId, organizationId, slug }: Place,
  { count, days }: { count: number; days: number },
) {
  const at = new Date(Date.now() - days * dayMs);
  const rows = Array.from({ length: count }, () => {
    const id = idAt(at);
    const chat = { channel: "web", channelId: id, subject: "web:ada" as const, messageCount: 1, updatedAt: at };
    return { agentId, organizationId, id, ref: `${slug}:web:${id}`, ...chat };
  });
  await db.insert(conversations).values(rows);
}

/** The number of rows of each subject that are there, and of messages. */
export async function left({ db }: Pick<RetentionHarness, "db">, { agentId }: Place) {
  return {
    conversations: await db.$count(conversations, eq(conversations.agentId, agentId)),
    memories: await db.$count(memories, eq(memories.agentId, agentId)),
    files: await db.$count(files, sql`${files.agentId} = ${agentId} and ${files.status} = 'stored'`),
    room_events: await db.$count(roomEvents, eq(roomEvents.agentId, agentId)),
    // Without the last run of each task.
    task_runs:
      (await db.$count(taskRuns, eq(taskRuns.agentId, agentId))) -
      (await db.$count(scheduledTasks, eq(scheduledTasks.agentId, agentId))),
    hook_executions: await db.$count(hookExecutions),
    turns: await db.$count(turns, eq(turns.agentId, agentId)),
    messages: await db.$count(messages),
  };
}

/** The audit entries of deletions. */
export const audited = async ({ db }: Pick<RetentionHarness, "db">) => {
  const rows = await db.select().from(auditLogs).where(eq(auditLogs.action, "retention.purge")).orderBy(auditLogs.id);
  return rows.map(({ summary, target, actorName }) => ({ ...(summary as object), target, actorName }));
};
