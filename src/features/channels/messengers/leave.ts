import { and, eq, inArray } from "drizzle-orm";
import { z } from "zod";
import { publicAddress, type Services } from "../../../context/ctx.ts";
import { MessengerError, type MessengerName, messengerNames } from "../../../core/channels/messengers.ts";
import type { Cipher } from "../../../core/credentials/cipher.ts";
import { fromBase64, newId, toBase64 } from "../../../core/ids.ts";
import { scrubber } from "../../../core/scrub/scrub.ts";
import type { Db } from "../../../db/client.ts";
import { agents, channels } from "../../../db/schema.ts";
import type { JobKinds } from "../../../jobs/attempt.ts";
import { defineJob } from "../../../jobs/define.ts";
import { enqueue } from "../../../jobs/enqueue.ts";
import { Postponed } from "../../../jobs/postponed.ts";
import { openConfig, type SealedConfig } from "../row.ts";
import { findUser } from "./claim.ts";
import { missingFields, openedConfig, type StoredFields, transportOf } from "./rules.ts";
import { enqueueStart } from "./start.ts";

/** The job that removes a channel's former account from its messenger. */
const leaveJob = defineJob(
  "channel.leave",
  z.object({
    batch: z.string(),
    /** Absent in jobs of earlier releases. */
    agentId: z.string().optional(),
    name: z.enum(messengerNames),
    /** The former configuration, sealed for this job, since the channel may be deleted by then. */
    keys: z.object({ keyId: z.string(), ciphertext: z.string() }),
  }),
  ({ batch }) => batch,
);

interface FormerAgent {
  id: string;
  organizationId: string;
}

/** Enqueues the removal of the account in `former`, an earlier row of the agent, after the commit of `tx`. */
export async function enqueueLeave(
  tx: Db,
  cipher: Cipher,
  { id, organizationId }: FormerAgent,
  name: MessengerName,
  former: SealedConfig,
): Promise<void> {
  const batch = newId();
  const fields = await openConfig<StoredFields>(cipher, id, name, former).catch(() => null);
  // If no configured key opens its credentials, the account can't be removed, but the change goes on.
  if (!fields) return;
  const { keyId, ciphertext } = await cipher.seal(JSON.stringify(fields), leavePlace(batch));
  const keys = { keyId, ciphertext: toBase64(ciphertext) };
  await enqueue(tx, leaveJob.of({ batch, agentId: id, name, keys }), { organizationId });
}

const leavePlace = (batch: string) => `leave:${batch}`;

/** `enqueueLeave` for all channels of an agent before its deletion. */
export async function leaveAll(tx: Db, cipher: Cipher, agentId: string): Promise<void> {
  const isLeft = and(eq(channels.agentId, agentId), eq(channels.enabled, true), inArray(channels.type, messengerNames));
  const { id, organizationId } = agents;
  const rows = await tx
    .select({ agent: { id, organizationId }, row: channels })
    .from(channels)
    .innerJoin(agents, eq(id, channels.agentId))
    .where(isLeft);
  for (const { agent, row } of rows) await enqueueLeave(tx, cipher, agent, row.type as MessengerName, row);
}

/** Removes an account, unless an enabled channel of this or another agent uses it. */
export function leaveJobs(services: Services, wake: () => void): JobKinds {
  const { database, cipher, messengers, agentSecrets, clock, log } = services;
  return leaveJob.doneBy(async ({ payload: { batch, agentId, name, keys } }, signal) => {
    const sealed = { keyId: keys.keyId, ciphertext: fromBase64(keys.ciphertext) ?? new Uint8Array() };
    const fields = JSON.parse(await cipher.open(sealed, leavePlace(batch))) as StoredFields;
    const transport = transportOf(name, fields, publicAddress(services));
    if (missingFields(name, fields, transport).length > 0) return;
    if (await findUser(database.db, cipher, name, fields)) return;
    const scrubOf = async () => (agentId === undefined ? scrubber([]) : agentSecrets.scrubOf(agentId));
    try {
      await messengers.account(openedConfig(name, fields, transport), scrubOf).register(null, signal);
    } catch (error) {
      if (!(error instanceof MessengerError)) throw error;
      if (error.isPermanent)
        return log.info({ channel: name, reason: error.message }, "A former account could not be left");
      throw error.retryAfterMs === null ? error : new Postponed(error.message, clock.now() + error.retryAfterMs);
    }
    // Another agent may have registered this account meanwhile: its webhook, which was just removed, is registered
    // again.
    const user = await findUser(database.db, cipher, name, fields);
    if (!user) return;
    await enqueueStart(database.db, { id: user.agentId }, name);
    wake();
  });
}
