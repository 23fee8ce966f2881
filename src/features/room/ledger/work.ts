import { z } from "@hono/zod-openapi";
import { defineJob } from "../../../jobs/define.ts";

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
