import { and, eq, inArray, isNull, ne, or } from "drizzle-orm";
import { publicAddress, type Services } from "../../../context/ctx.ts";
import { type MessengerName, messengerNames } from "../../../core/channels/messengers.ts";
import { channels } from "../../../db/schema.ts";
import { loadPolicies } from "../../installation/index.ts";
import { unstarted } from "../row.ts";
import { enqueueStart } from "./start.ts";

/**
 * Starts the channels anew whose messenger was told another public address than the one in force. One statement, unless
 * there are any; then one replica of several enqueues the starts.
 */
export function createMoved(services: Services, wake: () => void): () => Promise<void> {
  const { database } = services;
  const isMoved = (address: string) =>
    and(
      eq(channels.enabled, true),
      inArray(channels.type, messengerNames),
      or(isNull(channels.registeredAddress), ne(channels.registeredAddress, address)),
    );
  return async () => {
    const { id } = channels;
    const found = await database.db
      .select({ id })
      .from(channels)
      .where(isMoved(publicAddress(services)))
      .limit(1);
    if (found.length === 0) return;
    // It may be this process that does not know the address yet.
    await loadPolicies(services);
    const registeredAddress = publicAddress(services);
    await database.transaction(async (tx) => {
      const moved = await tx
        .update(channels)
        .set({ ...unstarted, registeredAddress, status: "starting" })
        .where(isMoved(registeredAddress))
        .returning({ agentId: channels.agentId, type: channels.type });
      for (const { agentId, type } of moved) await enqueueStart(tx, { id: agentId }, type as MessengerName);
    });
    wake();
  };
}
