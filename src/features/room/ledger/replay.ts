import { eq } from "drizzle-orm";
import type { Ctx } from "../../../context/ctx.ts";
import { write } from "../../../context/write.ts";
import { EngineError } from "../../../core/errors.ts";
import type { JsonValue } from "../../../core/json.ts";
import type { BacklogBound } from "../../../core/limits/backlog-bound.ts";
import type { Db } from "../../../db/client.ts";
import { eventSources } from "../../../db/schema.ts";
import { findAgent } from "../../agents/index.ts";
import { findEvent } from "./read.ts";
import { storeEvent } from "./store.ts";

/**
 * Reruns an event with the current definitions, even while its source is off. Returns the new event's id. Throws the
 * 404 of agent and event, 409 for an unreadable event or a deleted source, and the 503 of `boundBacklog`.
 */
export async function replayEvent(
  ctx: Ctx,
  slug: string,
  eventId: string,
  boundBacklog: BacklogBound,
): Promise<string> {
  const agent = await findAgent(ctx, slug);
  const { id: agentId, organizationId } = agent;
  await boundBacklog(agent);
  const summary: Record<string, string> = { eventId };
  const change = { action: "agent.room.event.replay", target: slug, agentId, agentUnchanged: true, summary };
  return write(ctx, change, async (tx) => {
    const event = await findEvent(tx, agentId, eventId);
    if (event.outcome === "invalid-payload") {
      throw new EngineError("conflict", `This event can't be replayed: ${event.reason}`);
    }
    const sourceId = await holdSource(tx, event.sourceId);
    const receivedAt = new Date(ctx.clock.now());
    const payload = event.payload as JsonValue;
    const of = { agentId, organizationId, sourceId, receivedAt, payload };
    const id = await storeEvent(tx, { ...of, outcome: "pending", replayOf: event.id });
    summary.newEventId = id;
    return id;
  });
}

/** Keeps the source from being deleted until the transaction ends. Throws the 409 for a deleted one. */
async function holdSource(tx: Db, id: string | null): Promise<string> {
  const [source] = id
    ? await tx.select({ id: eventSources.id }).from(eventSources).where(eq(eventSources.id, id)).for("key share")
    : [];
  if (!source) throw new EngineError("conflict", "The source of this event was deleted, and its definitions with it");
  return source.id;
}
