import { sql } from "drizzle-orm";
import { agents, rooms } from "../../../db/schema.ts";
import type { DueWork } from "../../../jobs/schedule.ts";
import { evaluateJob } from "./job.ts";

/** The Rooms of active agents that have something to do now. */
export const dueRooms: DueWork = ({ now }) => sql`
  select ${evaluateJob.kind}, ${rooms.agentId}::text, ${rooms.organizationId},
    jsonb_build_object('agentId', ${rooms.agentId}), ${rooms.dueAt}
  from ${rooms} inner join ${agents} on ${agents.id} = ${rooms.agentId} and ${agents.active}
  where ${rooms.enabled} and ${rooms.dueAt} <= ${now}`;
