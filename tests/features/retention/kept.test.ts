import { eq, sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { editionOf, openEdition } from "../../../src/core/edition.ts";
import {
  auditLogs,
  conversations,
  eventBacklog,
  inbox,
  messages,
  outbox,
  scheduledTasks,
  taskRuns,
  toolCalls,
  turns,
} from "../../../src/db/schema.ts";
import { createEngine } from "../../../src/engine.ts";
import { compare, takeSnapshot } from "../../contract/rows.ts";
import { audited, counts, left, oneOfEach, plant, retentionHarness } from "./world.ts";

test("a held conversation keeps all of it, until the hold ends", async () => {
  const h = await retentionHarness();
  const { ref } = await plant(h, h.home, 25);
  const address = `/api/conversations/${encodeURIComponent(ref)}`;
  const admin = await h.as("admin");
  expect(await h.call("PATCH", address, { legalHold: true }, admin)).toMatchObject({
    status: 403,
    body: { message: "Missing permission: org:write" },
  });
  expect((await h.call("PATCH", address, { title: "Case 7" }, admin)).body.conversation).toMatchObject({
    title: "Case 7",
    legalHold: false,
  });
  expect((await h.call("PATCH", address, { legalHold: true })).body.conversation).toMatchObject({
    title: "Case 7",
    legalHold: true,
  });
  expect((await h.call("PATCH", address, {})).status).toBe(400);
  expect((await h.call("GET", address)).body.conversation.legalHold).toBe(true);
  const refused = { status: 409, body: { message: "The conversation is under legal hold" } };
  expect(await h.call("DELETE", address, undefined, admin)).toMatchObject(refused);
  await h.put(1);
  const before = await takeSnapshot(h.services.database);
  await h.purge();
  const deleted = compare(before, await takeSnapshot(h.services.database)).filter(({ after }) => after === null);
  expect(deleted.map(({ table }) => table).filter((table) => table !== "jobs")).toEqual([]);

  const holds = await h.db
    .select()
    .from(auditLogs)
    .where(eq(auditLogs.action, "conversation.update"))
    .orderBy(auditLogs.id);
  expect(holds.map(({ summary }) => summary)).toEqual([
    { conversationId: ref, replaced: ["title"] },
    { conversationId: ref, replaced: [], changes: { legalHold: { from: false, to: true } } },
  ]);
  expect((await h.call("PATCH", address, { legalHold: false, title: "Case 8" })).body.conversation).toMatchObject({
    title: "Case 8",
    legalHold: false,
  });
  await h.purge();
  expect(await audited(h)).toMatchObject([{ counts: oneOfEach }]);
});

test("open work stays: turns, approvals, messages to come and to send, follow-ups, tasks and events", async () => {
  const h = await retentionHarness();
  const { agentId, organizationId } = h.home;
  const place = { agentId, channel: "telegram" };
  const later = new Date(Date.now() + 86_400_000);
  const [running, awaiting, ...rest] = await Promise.all([
    plant(h, h.home, 25, { openTurns: 1 }),
    plant(h, h.home, 25, {}),
    plant(h, h.home, 25, { titleDueAt: later }),
    plant(h, h.home, 25, { followUpDueAt: later }),
    plant(h, h.home, 25),
    plant(h, h.home, 25),
    plant(h, h.home, 25),
  ]);
  const [, , incoming, outgoing, reminded] = rest;
  if (!running || !awaiting || !incoming || !outgoing || !reminded) throw new Error("Nothing was planted");
  await h.db.update(turns).set({ status: "running" }).where(eq(turns.id, running.turnId));
  await h.db.update(turns).set({ status: "approval" }).where(eq(turns.id, awaiting.turnId));
  const asked = { toolCallId: "1", name: "t", args: {}, status: "pending", expiresAt: later };
  await h.db.insert(toolCalls).values({ ...asked, turnId: awaiting.turnId, agentId });
  await h.db.update(conversations).set({ awaiting: awaiting.turnId }).where(eq(conversations.id, awaiting.id));
  await h.db
    .insert(inbox)
    .values({ ...place, providerId: "1", conversationId: incoming.id, seq: 1, sender: "1", payload: {} });
  await h.db.insert(outbox).values({ ...place, conversationId: outgoing.id, target: "1", body: "Hi" });
  const task = {
    name: "t",
    prompt: "p",
    schedule: {},
    anchorAt: new Date(),
    nextRunAt: sql`now() + interval '1 year'`,
  };
  await h.db
    .insert(scheduledTasks)
    .values({ agentId, organizationId, ...task, subject: `conversation:${reminded.ref}` });
  await h.db.update(taskRuns).set({ status: "queued" }).where(eq(taskRuns.taskId, running.taskId));
  const [event] = await h.db.execute<{ id: string }>(sql`
    update room_events set outcome = 'backlog' where conversation_ref = ${running.ref} returning id`);
  await h.db
    .insert(eventBacklog)
    .values({ agentId, organizationId, roomEventId: event?.id ?? "", matchedAt: new Date() });
  await h.db.execute(sql`update room_events set outcome = 'pending' where conversation_ref = ${awaiting.ref}`);

  await h.put(1);
  const wanted = counts({ memories: 7, hook_executions: 7, files: 4, turns: 5, task_runs: 6, room_events: 5 });
  expect(await h.preview()).toEqual(wanted);
  await h.purge();
  expect(await audited(h)).toMatchObject([{ counts: wanted }]);
  expect(await h.db.$count(conversations)).toBe(7);
  expect(await h.db.$count(messages)).toBe(7);
});

test("without the feature retention pauses, and holds stay in force", async () => {
  const h = await retentionHarness();
  const { ref } = await plant(h, h.home, 25, { legalHold: true });
  await plant(h, h.home, 25);
  await h.put(10);
  await h.engine.stop(0);
  await h.hasten();
  const address = `/api/conversations/${encodeURIComponent(ref)}`;
  const closed = [openEdition, editionOf({ EDITION: "managed", FEATURES: ["channels"] })];
  for (const edition of closed) {
    const engine = createEngine({ ...h.services, options: { ...h.services.options, edition } });
    await h.pass(engine);
    expect((await left(h, h.home)).conversations).toBe(2);
    const send = async (method: string, body?: object) => {
      const init = {
        method,
        headers: { ...h.owner, "Content-Type": "application/json" },
        ...(body ? { body: JSON.stringify(body) } : {}),
      };
      const response = await engine.app.request(address, init, { remoteAddress: "192.0.2.1" });
      const { message, conversation } = await response.json();
      return [response.status, message ?? conversation];
    };
    expect(await send("DELETE")).toEqual([409, "The conversation is under legal hold"]);
    if (edition.managed) {
      expect(await send("PATCH", { legalHold: false })).toEqual([
        403,
        "This installation's licence lacks the feature: administration",
      ]);
    } else {
      const [status, message] = await send("PATCH", { legalHold: false });
      expect([status, message]).toEqual([400, expect.stringMatching(/^title: /)]);
      const [renamed, shown] = await send("PATCH", { title: "Other", legalHold: false });
      expect(renamed).toBe(200);
      expect(shown).not.toHaveProperty("legalHold");
    }
    await engine.stop(0);
  }
  expect(await h.db.$count(conversations, eq(conversations.legalHold, true))).toBe(1);
  const again = createEngine(h.services);
  await h.pass(again);
  expect(await audited(h)).toMatchObject([{ counts: oneOfEach }]);
  await again.stop(0);
});
