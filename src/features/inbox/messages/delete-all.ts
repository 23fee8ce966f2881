import type { Db } from "../../../db/client.ts";
import { inbox, outbox } from "../../../db/schema.ts";
import { deleteRowsOf } from "../../conversations/index.ts";

/** Deletes all messages of an agent, in the transaction that deletes the agent and before its conversations. */
export async function deleteMessagesOf(tx: Db, agentId: string): Promise<void> {
  await deleteRowsOf(tx, outbox, { agentId, since: outbox.createdAt });
  await deleteRowsOf(tx, inbox, { agentId, since: inbox.createdAt });
}
