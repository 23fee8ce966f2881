import { inArray, sql } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import { inbox } from "../../../db/schema.ts";
import type { Attempted } from "../../turns/index.ts";
import { type Batch, sharedAttempts } from "./batch.ts";
import { giveUp } from "./give-up.ts";
import type { Pending } from "./pending.ts";

/** The messages of one attempt. */
interface Answered {
  pending: Pending;
  batch: Batch;
}

/** Stores how an attempt at messages ended, as far as RECORD has not. */
export async function storeEnd(
  { services, wake }: { services: Services; wake(): void },
  { pending, batch }: Answered,
  { end, turn, tried }: Attempted,
): Promise<void> {
  const { database, log } = services;
  const { agent, conversation } = pending;
  const { id: conversationId, channel, channelId, organizationId } = conversation;
  const update = (set: object) => database.db.update(inbox).set(set).where(inArray(inbox.id, batch.ids));
  if (end.kind === "defer" && turn?.outcome.status === "aborted" && turn.outcome.reason === "superseded") {
    // Where a job of the newer messages waits, it takes the place of this one.
    await update({ restarts: sql`${inbox.restarts} + 1` });
  }
  if ((end.kind !== "retry" && end.kind !== "give-up") || (end.kind === "give-up" && end.why === "stopped")) return;
  if (end.kind === "retry") {
    const attempts = end.alone ? sql`greatest(${inbox.attempts} + 1, ${sharedAttempts})` : sql`${inbox.attempts} + 1`;
    await update({ attempts });
  } else if (end.why === "tools-called") {
    // The person was told when the turn was recorded.
    await update({ status: "failed", error: end.reason });
  } else {
    const owner = { agentId: agent.id, organizationId, conversationId, channelId, channel };
    await giveUp(services, { ...owner, ids: batch.ids, error: end.reason, notice: end.why !== "off" });
    wake();
  }
  const about = { agent: agent.slug, channel, conversationId, requestId: batch.messages[0].id };
  log.warn(
    { ...about, messages: batch.ids.length, attempt: tried, reason: end.reason },
    end.kind === "retry" ? "Messages could not be answered and will be tried again" : "Messages were given up",
  );
}
