import { z } from "@hono/zod-openapi";
import { sql } from "drizzle-orm";
import { newId } from "../../../core/ids.ts";
import type { JsonValue } from "../../../core/json.ts";
import { storableJson } from "../../../core/text/text.ts";
import type { Db } from "../../../db/client.ts";
import { type eventOutcomes, roomEvents } from "../../../db/schema.ts";
import { defineJob } from "../../../jobs/define.ts";
import { enqueue } from "../../../jobs/enqueue.ts";

const Payload = z.object({
  eventId: z.uuid(),
  /** The agent whose waiting events are counted; jobs of earlier releases lack it. */
  agentId: z.uuid().optional(),
});

/** Matches an event to a definition. */
export const matchJob = defineJob("room.match", Payload, ({ eventId }) => eventId);

/** Runs the turn of an event with a matching `conversation` definition. */
export const converseJob = defineJob("room.converse", Payload, ({ eventId }) => eventId);

/** The most attempts to call the matcher's model for an event, and of the event's turn (decisions §9). */
export const mostTries = 3;

export interface NewEvent {
  agentId: string;
  organizationId: string;
  sourceId: string;
  receivedAt: Date;
  /** Absent for a body that was not read. */
  payload?: JsonValue;
  /** `pending` for an event to be matched; any other outcome is final. */
  outcome: (typeof eventOutcomes)[number];
  /** Why the event had no effect, without secrets. */
  reason?: string;
  /** The event that an operator reran as this one. */
  replayOf?: string;
}

/**
 * Stores an event in the ledger and, if it is pending, the job that matches it; returns its id. Call the worker's
 * `wake` after the commit. Rejects with 23503 when its source or its agent was deleted meanwhile.
 */
export async function storeEvent(tx: Db, { payload, ...event }: NewEvent): Promise<string> {
  const { agentId, organizationId, outcome } = event;
  const id = newId();
  // JSON's null is a payload; SQL's null means that there is none.
  const stored = payload === undefined ? null : sql`${storableJson(payload)}::jsonb`;
  await tx.insert(roomEvents).values({ ...event, id, payload: stored });
  if (outcome === "pending") await enqueue(tx, matchJob.of({ eventId: id, agentId }), { organizationId });
  return id;
}
