import { z } from "@hono/zod-openapi";
import { sql } from "drizzle-orm";
import { agents, rooms } from "../../../db/schema.ts";
import { defineJob } from "../../../jobs/define.ts";
import type { DueWork } from "../../../jobs/schedule.ts";

const Payload = z.object({
  agentId: z.uuid(),
  /** Whether an operator requested a turn now, even without events. */
  run: z.boolean().optional(),
});

/** Runs a turn of an agent's Room. */
export const evaluateJob = defineJob("room.evaluate", Payload, ({ agentId }) => agentId);

/** The Rooms of active agents with due work. */
export const dueRooms: DueWork = ({ now }) => sql`
  select ${evaluateJob.kind}, ${rooms.agentId}::text, ${rooms.organizationId},
    jsonb_build_object('agentId', ${rooms.agentId}), ${rooms.dueAt}
  from ${rooms} inner join ${agents} on ${agents.id} = ${rooms.agentId} and ${agents.active}
  where ${rooms.enabled} and ${rooms.dueAt} <= ${now}`;
