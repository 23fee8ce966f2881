import { eq, sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import {
  agents,
  auditLogs,
  conversations,
  files,
  retentionPolicies,
  scheduledTasks,
  turns,
  usageRollups,
} from "../../../src/db/schema.ts";
import { createEngine } from "../../../src/engine.ts";
import { compare, takeSnapshot } from "../../contract/rows.ts";
import {
  audited,
  counts,
  left,
  oneOfEach,
  path,
  plant,
  plantConversations,
  retentionHarness,
  subjects,
} from "./world.ts";

test("deletes what the preview counts, and nothing young, held, or of another organization", async () => {
  const h = await retentionHarness();
  const other = await h.createOrganization("other");
  const otherAgent = newId();
  const [row] = await h.db.select().from(agents).where(eq(agents.id, h.home.agentId));
  if (!row) throw new Error("There is no agent");
  await h.db.insert(agents).values({
    ...row,
    id: otherAgent,
    slug: "other-agent",
    organizationId: other.id,
    workspaceId: other.workspaceId,
    authKeyHmac: null,
  });
  const elsewhere = { agentId: otherAgent, organizationId: other.id, slug: "other-agent" };
  await plant(h, elsewhere, 25);
  await plant(h, h.home, 5);
  await plant(h, h.home, 25, { legalHold: true });
  await plant(h, h.home, 25);
  const before = await takeSnapshot(h.services.database);

  const policies = subjects.map((subject) => ({ subject, days: 10 }));
  expect(await h.preview({ policies })).toEqual(oneOfEach);
  expect(await h.preview({ policies: [{ subject: "memories", days: 3650 }] })).toEqual(counts());
  const changed = compare(before, await takeSnapshot(h.services.database));
  expect(changed.map(({ table }) => table).filter((table) => table !== "access_tokens")).toEqual([]);

  expect((await h.put(10)).status).toBe(200);
  expect(await h.preview()).toEqual(oneOfEach);
  // Within a day of being turned on, nothing goes.
  await h.pass();
  expect(await audited(h)).toEqual([]);
  expect((await left(h, h.home)).conversations).toBe(3);

  await h.purge();
  expect(await audited(h)).toEqual([{ counts: oneOfEach, target: "acme", actorName: "retention" }]);
  expect(await left(h, h.home)).toEqual({
    ...oneOfEach,
    ...{ governance_verdicts: undefined },
    ...two,
    hook_executions: 3,
    messages: 3,
  });
  expect(await h.preview()).toEqual(counts());
  const changes = compare(before, await takeSnapshot(h.services.database));
  const touched = changes.filter(({ before, after }) => JSON.stringify([before, after]).includes(otherAgent));
  expect(touched).toEqual([]);

  // A day later the policies are due again, and find nothing.
  await h.purge();
  expect(await audited(h)).toHaveLength(1);
  const { body } = await h.call("GET", path);
  for (const { nextRunAt, lastRunAt } of body.policies) {
    expect(Date.parse(nextRunAt) - Date.parse(lastRunAt)).toBe(86_400_000);
  }
});

/** The rows of the young and of the held conversation. */
const two = { conversations: 2, memories: 2, files: 2, room_events: 2, task_runs: 2, turns: 2 };

test("turns stay until they are in the sums, and for the month whose budgets count them", async () => {
  const h = await retentionHarness();
  const { db } = h;
  const monthStart = Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth());
  for (const at of [monthStart - 1, monthStart, monthStart - 60 * 86_400_000]) {
    const { turnId } = await plant(h, h.home, 1);
    await db
      .update(turns)
      .set({ createdAt: new Date(at), finishedAt: new Date(at) })
      .where(eq(turns.id, turnId));
  }
  const turnsOf = async (days: number) => (await h.preview({ policies: [{ subject: "turns", days }] })).turns;
  expect(await turnsOf(1)).toBe(Date.now() - monthStart > 86_400_000 ? 2 : 1);
  await db.update(usageRollups).set({ until: sql`now() - interval '50 days'` });
  expect(await turnsOf(1)).toBe(1);
  await db.delete(usageRollups);
  expect(await turnsOf(1)).toBe(0);
});

test("conversations end with their state and files, also those without messages, and their people's tasks", async () => {
  const h = await retentionHarness();
  const { ref, fileId } = await plant(h, h.home, 40, { messageCount: 0, state: { phone: "1" } });
  const { agentId, organizationId } = h.home;
  const task = { name: "t", prompt: "p", schedule: {}, anchorAt: new Date(), source: "agent" } as const;
  await h.db.insert(scheduledTasks).values({ agentId, organizationId, ...task, subject: `conversation:${ref}` });
  await h.put(30, ["conversations"]);
  await h.purge();
  expect(await audited(h)).toMatchObject([{ counts: counts({ conversations: 1 }) }]);
  expect(await left(h, h.home)).toMatchObject({
    conversations: 0,
    messages: 0,
    hook_executions: 0,
    files: 0,
    turns: 1,
    memories: 1,
  });
  expect(await h.db.$count(scheduledTasks, sql`${scheduledTasks.subject} <> ''`)).toBe(0);
  expect(await h.db.select().from(turns)).toMatchObject([{ conversationId: null }]);
  const [file] = await h.db.select().from(files).where(eq(files.id, fileId));
  expect(file?.status ?? "gone").not.toBe("stored");
});

test("policies are off at first, replaced as a whole, and wait a day after each time that they get stricter", async () => {
  const h = await retentionHarness();
  const off = { enabled: false, nextRunAt: null, lastRunAt: null };
  const initial = subjects.map((subject) => ({ subject, days: 365, ...off }));
  expect((await h.call("GET", path)).body).toEqual({ policies: initial });
  const only = async (policy: object) => {
    const { status, body } = await h.call("PUT", path, { policies: [policy] });
    expect(status).toBe(200);
    return body.policies.find(({ enabled }: { enabled: boolean }) => enabled)?.nextRunAt ?? null;
  };
  const dueAt = await only({ subject: "files", enabled: true, days: 90 });
  expect(Math.abs(Date.parse(dueAt) - Date.now() - 86_400_000)).toBeLessThan(60_000);
  await h.db.update(retentionPolicies).set({ nextRunAt: new Date(0) });
  const past = "1970-01-01T00:00:00.000Z";
  expect(await only({ subject: "files", enabled: true, days: 90 })).toBe(past);
  expect(await only({ subject: "files", enabled: true, days: 91 })).toBe(past);
  expect(Date.parse((await only({ subject: "files", enabled: true, days: 90 })) ?? "")).toBeGreaterThan(Date.now());
  await h.db.update(retentionPolicies).set({ nextRunAt: new Date(0) });
  expect(await only({ subject: "files", days: 90 })).toBe(null);
  expect(Date.parse((await only({ subject: "files", enabled: true, days: 90 })) ?? "")).toBeGreaterThan(Date.now());
  const replaced = await h.call("PUT", path, { policies: [] });
  expect(replaced.body.policies).toEqual(
    initial.map((policy) => (policy.subject === "files" ? { ...policy, days: 90 } : policy)),
  );
  const entries = await h.db
    .select()
    .from(auditLogs)
    .where(eq(auditLogs.action, "retention.update"))
    .orderBy(auditLogs.id);
  expect(entries[0]?.summary).toEqual({
    changes: { "files.enabled": { from: false, to: true }, "files.days": { from: 365, to: 90 } },
  });
  // Setting the same changes nothing.
  await h.call("PUT", path, { policies: [] });
  expect(await h.db.$count(auditLogs, eq(auditLogs.action, "retention.update"))).toBe(entries.length);

  const file = { subject: "files", days: 1 };
  for (const policies of [
    [{ subject: "files" }],
    [{ ...file, days: 0 }],
    [{ ...file, days: 3651 }],
    [{ ...file, days: 1.5 }],
    [file, file],
    [{ ...file, subject: "users" }],
    "files",
  ]) {
    expect((await h.call("PUT", path, { policies })).status).toBe(400);
    expect((await h.call("POST", `${path}/preview`, { policies })).status).toBe(400);
  }
});

test("a policy that is turned off during its deletion ends with the batch", async () => {
  const h = await retentionHarness();
  await plantConversations(h, h.home, { count: 21, days: 40 });
  await h.put(30, ["conversations"]);
  const { database } = h.services;
  let batches = 0;
  const { transaction } = database;
  database.transaction = async (work) => {
    const result = await transaction(work);
    const left = await h.db.$count(conversations);
    if (left < 21) batches += 1;
    if (batches === 1 && left < 21) await h.db.update(retentionPolicies).set({ enabled: false });
    return result;
  };
  await h.purge();
  expect(await h.db.$count(conversations)).toBe(1);
  expect(await audited(h)).toMatchObject([{ counts: counts({ conversations: 20 }) }]);
});

test("an attempt that fails is continued by the next one, and each deletion is in the audit log once", async () => {
  const h = await retentionHarness();
  await plantConversations(h, h.home, { count: 21, days: 40 });
  await h.put(30, ["conversations"]);
  const { database } = h.services;
  const { transaction } = database;
  let failed = false;
  database.transaction = (work) =>
    transaction(async (tx) => {
      const result = await work(tx);
      const [gone] = await tx.execute<{ left: number }>(sql`select count(*)::int as left from conversations`);
      if (gone?.left !== 0 || failed) return result;
      failed = true;
      throw new Error("The server died");
    });
  await h.purge();
  expect(failed).toBe(true);
  expect(await audited(h)).toMatchObject([
    { counts: counts({ conversations: 20 }) },
    { counts: counts({ conversations: 1 }) },
  ]);
  expect(await h.db.$count(conversations)).toBe(0);
});

test("replicas that run at the same time delete each row once", async () => {
  const h = await retentionHarness();
  for (let n = 0; n < 3; n += 1) await plant(h, h.home, 25);
  await h.put(10);
  const [a, b] = [createEngine(h.services), createEngine(h.services)];
  await h.hasten();
  await h.clock.jump(30_000);
  await Promise.all([h.pass(a), h.pass(b), h.pass()]);
  expect(await audited(h)).toMatchObject([
    { counts: Object.fromEntries(subjects.map((name) => [name, name === "governance_verdicts" ? 0 : 3])) },
  ]);
  await Promise.all([a.stop(0), b.stop(0)]);
});

test("a process whose clock is ahead deletes nothing early, and nothing young", async () => {
  const h = await retentionHarness();
  await plant(h, h.home, 25);
  await plant(h, h.home, 5);
  await h.put(10);
  await h.clock.jump(366 * 86_400_000);
  await h.pass();
  expect(await audited(h)).toEqual([]);
  await h.purge();
  expect(await audited(h)).toMatchObject([{ counts: oneOfEach }]);
  expect((await left(h, h.home)).conversations).toBe(1);
});
