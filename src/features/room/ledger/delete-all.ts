import { eq } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { eventBacklog, roomEvents } from "../../../db/schema.ts";
import { deleteRows } from "../../conversations/index.ts";

/** Deletes all events of an agent, and what they left to its Room, in the transaction that deletes the agent. */
export async function deleteEventsOf(tx: Db, agentId: string): Promise<void> {
  await deleteRows(tx, eventBacklog, eq(eventBacklog.agentId, agentId));
  await deleteRows(tx, roomEvents, eq(roomEvents.agentId, agentId));
}
