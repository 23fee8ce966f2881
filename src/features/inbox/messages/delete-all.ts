import { eq } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { inbox, outbox } from "../../../db/schema.ts";
import { deleteRows } from "../../conversations/index.ts";

/** Deletes all messages of an agent, in the transaction that deletes the agent and before its conversations. */
export async function deleteMessagesOf(tx: Db, agentId: string): Promise<void> {
  await deleteRows(tx, outbox, eq(outbox.agentId, agentId));
  await deleteRows(tx, inbox, eq(inbox.agentId, agentId));
}
