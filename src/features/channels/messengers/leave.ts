import { and, eq, inArray } from "drizzle-orm";
import { z } from "zod";
import { publicAddress, type Services } from "../../../context.ts";
import { fromBase64, toBase64 } from "../../../core/ids.ts";
import { MessengerError, type MessengerName, messengerNames } from "../../../core/messengers.ts";
import type { Db } from "../../../db/client.ts";
import { channels } from "../../../db/schema.ts";
import type { JobHandler } from "../../../jobs/attempt.ts";
import { enqueue } from "../../../jobs/enqueue.ts";
import { Postponed } from "../../../jobs/postponed.ts";
import { openConfig, type SealedConfig } from "../row.ts";
import { findUser } from "./claim.ts";
import { missingFields, openedConfig, type StoredFields, transportOf } from "./rules.ts";
import { enqueueStart } from "./start.ts";

/** The kind of the jobs by which a messenger calls no more for an account that a channel had. */
export const leaveKind = "channel.leave";

const Payload = z.object({
  agentId: z.string(),
  name: z.enum(messengerNames),
  /** The former configuration, sealed as it was stored: the row may be gone. */
  keys: z.object({ keyId: z.string(), ciphertext: z.string() }),
});

interface Left {
  id: string;
  organizationId?: string;
}

/** Has a messenger call no more for the account of `former`, once `tx` is committed. */
export async function enqueueLeave(tx: Db, agent: Left, name: MessengerName, former: SealedConfig): Promise<void> {
  const { id: agentId, organizationId } = agent;
  const keys = { keyId: former.keyId, ciphertext: toBase64(former.config) };
  const payload: z.infer<typeof Payload> = { agentId, name, keys };
  await enqueue(tx, leaveKind, payload, organizationId === undefined ? {} : { organizationId });
}

/** The same for all channels of an agent that is about to be deleted. */
export async function leaveAll(tx: Db, agentId: string): Promise<void> {
  const rows = await tx
    .select()
    .from(channels)
    .where(and(eq(channels.agentId, agentId), eq(channels.enabled, true), inArray(channels.type, messengerNames)));
  for (const row of rows) await enqueueLeave(tx, { id: agentId }, row.type as MessengerName, row);
}

/** Leaves an account, unless a channel that is on has it: it was turned on again, or it is another agent's now. */
export function createLeave(services: Services, wake: () => void): JobHandler {
  const { database, cipher, messengers, clock, log } = services;
  return async ({ payload }, signal) => {
    const { agentId, name, keys } = Payload.parse(payload);
    const config = fromBase64(keys.ciphertext);
    if (!config) throw new Error("The former configuration is not readable");
    const fields = await openConfig<StoredFields>(cipher, agentId, name, { keyId: keys.keyId, config });
    const transport = transportOf(name, fields, publicAddress(services));
    if (missingFields(name, fields, transport).length > 0) return;
    if (await findUser(database.db, cipher, name, fields)) return;
    try {
      await messengers.account(openedConfig(name, fields, transport)).register(null, signal);
    } catch (error) {
      if (!(error instanceof MessengerError)) throw error;
      if (error.isPermanent)
        return log.info({ channel: name, reason: error.message }, "A former account could not be left");
      throw error.retryAfterMs === null ? error : new Postponed(error.message, clock.now() + error.retryAfterMs);
    }
    // Who turned it on meanwhile was told to be called before the messenger was told to stop.
    const user = await findUser(database.db, cipher, name, fields);
    if (!user) return;
    await enqueueStart(database.db, { id: user.agentId }, name);
    wake();
  };
}
