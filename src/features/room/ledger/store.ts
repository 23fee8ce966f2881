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
  /** By it the waiting events of an agent are counted; jobs of earlier releases lack it. */
  agentId: z.uuid().optional(),
});

/** Decides which definition an event matches. */
export const matchJob = defineJob("room.match", Payload, ({ eventId }) => eventId);

/** Takes the turn of an event that matched a `conversation` definition. */
export const converseJob = defineJob("room.converse", Payload, ({ eventId }) => eventId);

/** How often the model of an event is asked after failures, and how often an event's turn is taken (decisions §9). */
export const mostTries = 3;

export interface NewEvent {
  agentId: string;
  organizationId: string;
  sourceId: string;
  receivedAt: Date;
  /** Absent for a body that was not read. */
  payload?: JsonValue;
  /** `pending` is to be matched; any other outcome is the last. */
  outcome: (typeof eventOutcomes)[number];
  /** Why it came to nothing, in words without secrets. */
  reason?: string;
  /** The event that an operator has handled again as this one. */
  replayOf?: string;
}

/**
 * Stores an event in the ledger, and the job that matches it where it is pending; answers its id. Call the worker's `wake`
 * after the commit. Rejects with 23503 when its source or its agent was deleted meanwhile.
 */
export async function storeEvent(tx: Db, { payload, ...event }: NewEvent): Promise<string> {
  const { agentId, organizationId, outcome } = event;
  const id = newId();
  // JSON's null is a payload; the database's null is none.
  const stored = payload === undefined ? null : sql`${storableJson(payload)}::jsonb`;
  await tx.insert(roomEvents).values({ ...event, id, payload: stored });
  if (outcome === "pending") await enqueue(tx, matchJob.of({ eventId: id, agentId }), { organizationId });
  return id;
}
