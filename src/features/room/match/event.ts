import { and, eq } from "drizzle-orm";
import type { ActingAgent } from "../../../core/activity/activity.ts";
import type { JsonValue } from "../../../core/json.ts";
import type { Db } from "../../../db/client.ts";
import { actingAgent, agents, eventSources, roomEvents, rooms } from "../../../db/schema.ts";
import { definitionsOf, type EventDefinition } from "../sources/find.ts";
import type { Verdict } from "./schema.ts";

/** An event to be matched, with the current agent and its Room. */
export interface PendingEvent {
  id: string;
  /** Null when its source was deleted. */
  sourceId: string | null;
  payload: JsonValue;
  /** In milliseconds since the epoch. */
  receivedAt: number;
  /** The verdicts of earlier attempts. */
  verdicts: Verdict[];
  /** How often the matcher's model failed. */
  attempts: number;
  /** The name of its source; null for a deleted one. */
  sourceName: string | null;
  agent: ActingAgent & { revision: number; active: boolean };
  roomOn: boolean;
  definitions: EventDefinition[];
}

/** Null for an event that was deleted or matched already. */
export async function readPending(db: Db, eventId: string): Promise<PendingEvent | null> {
  const [row] = await db
    .select({
      event: roomEvents,
      sourceName: eventSources.name,
      agent: { ...actingAgent, revision: agents.revision, active: agents.active },
      roomOn: rooms.enabled,
    })
    .from(roomEvents)
    .innerJoin(agents, eq(agents.id, roomEvents.agentId))
    .leftJoin(eventSources, eq(eventSources.id, roomEvents.sourceId))
    .leftJoin(rooms, eq(rooms.agentId, agents.id))
    .where(and(eq(roomEvents.id, eventId), eq(roomEvents.outcome, "pending")));
  if (!row) return null;
  const { id, sourceId, payload, verdicts, attempts } = row.event;
  return {
    id,
    sourceId,
    sourceName: row.sourceName,
    attempts,
    agent: row.agent,
    roomOn: row.roomOn ?? false,
    payload: payload as JsonValue,
    receivedAt: row.event.receivedAt.getTime(),
    verdicts: verdicts as Verdict[],
    definitions: sourceId === null ? [] : await definitionsOf(db, sourceId),
  };
}
