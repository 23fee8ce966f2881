import { and, eq, sql } from "drizzle-orm";
import { newId } from "../../../../src/core/ids.ts";
import type { JsonValue } from "../../../../src/core/json.ts";
import type { Database } from "../../../../src/db/client.ts";
import {
  agents,
  eventBacklog,
  eventDefinitions,
  eventSources,
  organizations,
  roomEvents,
  rooms,
  workspaces,
} from "../../../../src/db/schema.ts";
import { addToBacklog } from "../../../../src/features/room/backlog/add.ts";

export const start = Date.UTC(2026, 0, 1);

type Row = Partial<typeof rooms.$inferInsert>;

interface Owner {
  agentId: string;
  organizationId: string;
}

/** A source, a definition and an event of an agent; `add` adds the event to the backlog. */
export async function eventOf(database: Database, own: Owner) {
  const { db } = database;
  const [sourceId, definitionId, roomEventId] = [newId(), newId(), newId()];
  const sealed = { tokenDigest: newId(), keyId: "k", credentials: new Uint8Array([1]) };
  await db.insert(eventSources).values({ ...own, ...sealed, id: sourceId, name: "Shop", sourceType: "shop" });
  const definition = { name: "Orders", matchingPrompt: "A new order", action: "backlog" as const, priority: 0 };
  await db.insert(eventDefinitions).values({ ...definition, id: definitionId, sourceId, agentId: own.agentId });
  await db.insert(roomEvents).values({ ...own, id: roomEventId, sourceId, receivedAt: new Date(start) });
  /** Adds an entry, by default on this pool. */
  const add = (now = start, payload: JsonValue = { order: 1 }, on: Database = database) =>
    on.transaction((tx) => addToBacklog(tx, { ...own, roomEventId, definitionId, payload, now }));
  return { sourceId, definitionId, roomEventId, add };
}

/** An agent in an organization of its own, with an event; and a Room unless `room` is null. */
export async function agentWithRoom(database: Database, room: Row | null = {}) {
  const { db } = database;
  const [organizationId, workspaceId, agentId] = [newId(), newId(), newId()];
  const slug = `agent-${agentId}`;
  const own = { agentId, organizationId };
  await db.insert(organizations).values({ id: organizationId, slug: organizationId, name: "Acme" });
  await db.insert(workspaces).values({ id: workspaceId, organizationId, name: "default" });
  await db.insert(agents).values({ id: agentId, slug, name: slug, organizationId, workspaceId });
  if (room) {
    const ref = { conversationRef: `room:${slug}:${start}`, createdAt: new Date(start) };
    await db.insert(rooms).values({ ...own, ...ref, id: newId(), ...room });
  }
  return { ...own, ...(await eventOf(database, own)) };
}

/** The Room's row, and the number of entries that are pending. */
export async function countsOf({ db }: Database, agentId: string) {
  const [room] = await db.select().from(rooms).where(eq(rooms.agentId, agentId));
  const [counted] = await db
    .select({ pending: sql<number>`count(*)::int` })
    .from(eventBacklog)
    .where(and(eq(eventBacklog.agentId, agentId), eq(eventBacklog.status, "pending")));
  return { room, pendingCount: room?.pendingCount, pending: counted?.pending };
}
