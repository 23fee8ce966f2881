import { and, asc, eq, inArray, isNotNull } from "drizzle-orm";
import { messengerNames } from "../../../core/channels/messengers.ts";
import type { Database } from "../../../db/client.ts";
import { agents, channels } from "../../../db/schema.ts";

/** A channel with an error. The longest failing one comes first. */
export interface TroubledChannel {
  slug: string;
  type: string;
  /** Whether the messenger refuses the whole channel. Otherwise it refused the last message, or did not respond. */
  isFailing: boolean;
  /** The error, without secrets. */
  error: string;
  /** Null when an earlier release stored the error. */
  since: Date | null;
}

/** The enabled messenger channels with an error. Changes nothing. */
export async function inspectChannels({ db }: Database): Promise<TroubledChannel[]> {
  const { type, status, lastError, errorSince: since } = channels;
  const rows = await db
    .select({ slug: agents.slug, type, status, error: lastError, since })
    .from(channels)
    .innerJoin(agents, eq(agents.id, channels.agentId))
    .where(and(eq(channels.enabled, true), inArray(type, messengerNames), isNotNull(lastError)))
    .orderBy(asc(since), asc(agents.slug), asc(type));
  return rows.map(({ status, error, ...row }) => ({ ...row, isFailing: status === "failing", error: error ?? "" }));
}
