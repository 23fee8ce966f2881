import { expect, test } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import {
  agents,
  channels,
  conversations,
  eventBacklog,
  outbox,
  scheduledTasks,
  taskRuns,
} from "../../../src/db/schema.ts";
import { harness } from "../../harness.ts";
import { plantTurns } from "./plant.ts";

const minute = 60_000;

async function planted() {
  const h = await harness();
  const { slug } = await h.agent({ name: "First" });
  const now = h.clock.now();
  const ago = (minutes: number) => new Date(now - minutes * minute);
  const { db } = h.services.database;
  const [agent] = await db.select().from(agents);
  if (!agent) throw new Error("There is no agent");
  const of = { agentId: agent.id, organizationId: agent.organizationId };
  const [conversation, task] = [newId(), newId()];
  const ref = `${slug}:web:4711`;
  await db
    .insert(conversations)
    .values({ ...of, id: conversation, ref, channel: "web", channelId: "4711", subject: "web:ada" });
  const open = { status: "running", finishedAt: null, leaseUntil: new Date(Date.now() + minute) } as const;
  await plantTurns(h, [
    { at: ago(3), conversation, fields: open },
    { at: ago(2), conversation, fields: { ...open, status: "queued" } },
    { at: ago(5), fields: { ...open, leaseUntil: ago(1) } },
    { at: ago(1) },
    { at: ago(4), conversation, fields: { status: "failed", errorCode: "provider-failed" } },
    { at: ago(8), fields: { status: "lost", channel: "telegram" } },
    { at: ago(9), fields: { status: "failed", channel: "scheduled", errorCode: "internal" } },
    { at: ago(25 * 60), fields: { status: "failed", errorCode: "internal" } },
    { at: ago(6), fields: { status: "aborted", errorCode: "stop" } },
  ]);
  await db.insert(scheduledTasks).values({
    ...of,
    id: task,
    name: "Report",
    prompt: "Report",
    schedule: {},
    anchorAt: ago(60),
  });
  const run = { ...of, taskId: task, triggerType: "schedule", dueAt: ago(10) } as const;
  await db.insert(taskRuns).values([
    { ...run, id: newId(), status: "failed", error: "Nobody approved a call in time", createdAt: ago(10) },
    { ...run, id: newId(), dueAt: ago(20), status: "completed", createdAt: ago(20) },
  ]);
  const message = { agentId: agent.id, channel: "telegram", target: "4711", body: "Hello" };
  await db.insert(outbox).values({
    ...message,
    id: newId(),
    conversationId: conversation,
    status: "failed",
    error: "blocked",
    createdAt: ago(11),
  });
  await db.insert(eventBacklog).values({
    ...of,
    id: newId(),
    status: "failed",
    error: "The turn failed",
    matchedAt: ago(13),
    completedAt: ago(12),
  });
  await db.insert(channels).values({
    id: newId(),
    agentId: agent.id,
    type: "slack",
    enabled: true,
    keyId: "",
    config: new Uint8Array(),
    status: "failing",
    lastError: "The token is revoked",
    updatedAt: ago(26 * 60),
  });
  return { h, slug, ref, ago };
}

test("shows the running turns, and the failures of the last 24 hours, newest first", async () => {
  const { h, slug, ref, ago } = await planted();
  const response = await h.request("/api/analytics/now", { headers: await h.as("viewer") });
  expect(response.status).toBe(200);
  const { running, failures } = await response.json();
  const at = (minutes: number) => ago(minutes).toISOString();
  const agent = { instanceId: slug, instanceName: "First" };
  const turn = { id: expect.any(String), ...agent, conversationId: ref, channel: "web" };
  expect(running).toEqual({
    items: [
      { ...turn, status: "running", createdAt: at(3) },
      { ...turn, status: "queued", createdAt: at(2) },
    ],
    total: 2,
  });
  const failed = (
    kind: string,
    name: string | null,
    error: string,
    minutes: number,
    conversationId: string | null,
  ) => ({
    kind,
    ...agent,
    conversationId,
    name,
    error,
    at: at(minutes),
  });
  expect(failures).toEqual({
    items: [
      failed("turn", "web", "provider-failed", 4, ref),
      failed("turn", "telegram", "lost", 8, null),
      failed("task", "Report", "Nobody approved a call in time", 10, null),
      failed("message", "telegram", "blocked", 11, ref),
      failed("event", null, "The turn failed", 12, null),
      failed("channel", "slack", "The token is revoked", 26 * 60, null),
    ],
    total: 6,
  });
});

test("only agents within the caller's reach are shown", async () => {
  const { h } = await planted();
  const nothing = { items: [], total: 0 };
  const response = await h.request("/api/analytics/now", { headers: await h.as("viewer", { reach: false }) });
  expect(await response.json()).toEqual({ running: nothing, failures: nothing });
});
