import { and, eq, inArray, isNotNull, isNull } from "drizzle-orm";
import { authorOf, type Ctx } from "../../../context/ctx.ts";
import { type Changes, changesBetween } from "../../../core/changes.ts";
import { EngineError } from "../../../core/errors.ts";
import { newId } from "../../../core/ids.ts";
import type { Db } from "../../../db/client.ts";
import { eventBacklog, rooms } from "../../../db/schema.ts";
import { enqueue } from "../../../jobs/enqueue.ts";
import { type AgentRow, findAgent, writeAgent } from "../../agents/index.ts";
import { changedPlace } from "../../inbox/index.ts";
import { lockRoom, type RoomRow, settleDueAt } from "../backlog/settle.ts";
import { changeEntries } from "../backlog/status.ts";
import { freeRoomRef } from "../conversation-ref.ts";
import { evaluateJob } from "../scheduler/job.ts";
import type { BundledRoom, Room, RoomChanges } from "./schema.ts";

/** The agent's Room. Throws the 404 of the agent. */
export async function getRoom(ctx: Ctx, slug: string): Promise<Room> {
  const { id } = await findAgent(ctx, slug);
  const [room] = await ctx.db.select().from(rooms).where(eq(rooms.agentId, id));
  return room ? toRoom(room) : { configured: false };
}

/** The settings of an agent's Room, for a bundle. */
export async function exportRoom(db: Db, agentId: string): Promise<BundledRoom> {
  const [room] = await db.select().from(rooms).where(eq(rooms.agentId, agentId));
  return room ? settingsOf(room) : null;
}

/**
 * Changes the given settings of an agent's Room; the first call creates it. Throws the 404 of the agent, and the 400
 * for an invalid destination.
 */
export async function saveRoom(ctx: Ctx, slug: string, input: RoomChanges): Promise<void> {
  const changes: Changes = {};
  const summary = { created: false };
  const unchanged = () => !summary.created && Object.keys(changes).length === 0;
  const change = { action: "agent.room.update", agentUnchanged: true, summary, changes, unchanged };
  await writeAgent(ctx, slug, change, async (tx, agent) => {
    const stored = await storeRoom(tx, ctx, agent, input);
    summary.created = stored.created;
    Object.assign(changes, stored.changes);
  });
}

/** `saveRoom` in a transaction of `writeAgent`. */
async function storeRoom(tx: Db, ctx: Ctx, agent: AgentRow, input: RoomChanges) {
  const now = ctx.clock.now();
  const known = await lockRoom(tx, agent.id);
  const before = known ?? (await createRoom(ctx, tx, agent));
  const settings = settingsOf(before);
  const after = { ...settings, ...input, ...changedPlace(input, settings) };
  const changes = changesBetween(settings, after);
  if (Object.keys(changes).length > 0) {
    const columns = { ...after, updatedBy: authorOf(ctx), updatedAt: new Date(now) };
    await tx.update(rooms).set(columns).where(eq(rooms.agentId, agent.id));
    await settleDueAt(tx, agent.id, now);
  }
  return { created: !known, changes };
}

/** Gives an agent exactly this Room, or none, in a transaction of `writeAgent`. */
export async function importRoom(tx: Db, ctx: Ctx, agent: AgentRow, wanted: BundledRoom): Promise<void> {
  if (wanted) await storeRoom(tx, ctx, agent, wanted);
  else await removeRoom(tx, ctx, agent.id);
}

/**
 * Deletes an agent's Room and its pending entries; its conversation stays. Does nothing without a Room. Throws the 404
 * of the agent.
 */
export async function deleteRoom(ctx: Ctx, slug: string): Promise<void> {
  const summary = { discarded: 0 };
  let existed = false;
  const change = { action: "agent.room.delete", agentUnchanged: true, summary, unchanged: () => !existed };
  await writeAgent(ctx, slug, change, async (tx, { id }) => {
    const discarded = await removeRoom(tx, ctx, id);
    existed = discarded !== null;
    summary.discarded = discarded ?? 0;
  });
}

/** `deleteRoom` in a transaction of `writeAgent`. Returns the number of discarded entries; null without a Room. */
async function removeRoom(tx: Db, ctx: Ctx, agentId: string): Promise<number | null> {
  if (!(await lockRoom(tx, agentId))) return null;
  const isOpen = inArray(eventBacklog.status, ["pending", "processing"]);
  const discard = { status: "discarded", error: "The Room was deleted" } as const;
  const discarded = await changeEntries(tx, { agentId, now: ctx.clock.now() }, isOpen, discard);
  await tx.delete(rooms).where(eq(rooms.agentId, agentId));
  return discarded.length;
}

/**
 * Starts a turn in an agent's Room now, even without events, and ends the pauses of entries. Throws the 404 of the
 * agent, and 409 while the Room or the agent is off. Wake the worker afterwards.
 */
export async function runRoom(ctx: Ctx, slug: string): Promise<void> {
  const change = { action: "agent.room.run", agentUnchanged: true };
  await writeAgent(ctx, slug, change, async (tx, { id: agentId, organizationId, active }) => {
    const room = await lockRoom(tx, agentId);
    if (!room) throw new EngineError("conflict", "The agent has no Room: set it up first");
    if (!room.enabled) throw new EngineError("conflict", "The Room is off: switch it on first");
    if (!active) throw new EngineError("conflict", "The agent is inactive: activate it first");
    const { status, notBefore, claim } = eventBacklog;
    // Not entries with a claim: they wait for the approval of a call.
    const rests = and(eq(status, "pending"), isNotNull(notBefore), isNull(claim));
    await changeEntries(tx, { agentId, now: ctx.clock.now() }, rests, { status: "pending", notBefore: null });
    await enqueue(tx, evaluateJob.of({ agentId, run: true }), { organizationId });
  });
}

async function createRoom(ctx: Ctx, tx: Db, { id: agentId, organizationId, slug }: AgentRow): Promise<RoomRow> {
  const { ref, ms } = await freeRoomRef(tx, slug, ctx.clock.now());
  const [author, createdAt] = [authorOf(ctx), new Date(ms)];
  const made = { createdBy: author, updatedBy: author, createdAt, updatedAt: createdAt };
  const row = { ...made, id: newId(), agentId, organizationId, conversationRef: ref };
  const [room] = await tx.insert(rooms).values(row).returning();
  if (!room) throw new Error("The Room is gone");
  return room;
}

function settingsOf({ enabled, prompt, outboundChannel, outboundTarget, evalIntervalMinutes }: RoomRow) {
  const channel = outboundChannel as Exclude<RoomChanges["outboundChannel"], undefined>;
  return { enabled, prompt, outboundChannel: channel, outboundTarget, evalIntervalMinutes };
}

/** A Room in its API form. */
function toRoom(room: RoomRow): Room {
  return {
    configured: true,
    id: room.id,
    ...settingsOf(room),
    conversationId: room.conversationRef,
    pendingEventCount: room.pendingCount,
    createdAt: room.createdAt.toISOString(),
    updatedAt: room.updatedAt.toISOString(),
  };
}
