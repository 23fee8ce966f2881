import { and, eq, sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { agents, channels, optOuts } from "../../../db/schema.ts";
import type { MessengerChannel } from "../../channels/index.ts";

export type Receiver = NonNullable<Awaited<ReturnType<typeof readReceiver>>>;

/** The agent that a message is for, as it is now; null when the agent or the channel is off or gone. */
export async function readReceiver(tx: Db, { agent: { id }, name }: MessengerChannel) {
  const [row] = await tx
    .select({
      organizationId: agents.organizationId,
      debounceMs: agents.debounceMs,
      optoutEnabled: agents.optoutEnabled,
      optoutStopKeywords: agents.optoutStopKeywords,
      optoutResumeKeywords: agents.optoutResumeKeywords,
      optoutClosingMessage: agents.optoutClosingMessage,
      optoutResumeMessage: agents.optoutResumeMessage,
      hasOptOuts: sql<boolean>`exists (
        select 1 from ${optOuts} where ${optOuts.agentId} = ${agents.id} and ${optOuts.channel} = ${name}
      )`,
    })
    .from(agents)
    .innerJoin(channels, and(eq(channels.agentId, agents.id), eq(channels.type, name)))
    .where(and(eq(agents.id, id), eq(agents.active, true), eq(channels.enabled, true)));
  return row ?? null;
}
