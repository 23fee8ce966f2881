import { inArray, sql } from "drizzle-orm";
import type { Services } from "../../../context.ts";
import { inbox } from "../../../db/schema.ts";
import { backoffMs } from "../../../jobs/backoff.ts";
import { Postponed } from "../../../jobs/postponed.ts";
import { type Setback, setbackOfTurn, type Unattended } from "../../turns/index.ts";
import { type Batch, sharedAttempts } from "./batch.ts";
import { giveUp } from "./give-up.ts";
import type { Pending } from "./pending.ts";

/** Messages that were to be answered. */
interface Settling {
  services: Services;
  wake(): void;
  pending: Pending;
  batch: Batch;
}

/** How often messages are tried before they are given up. */
const mostAttempts = 10;

/** Notes how their turn ended. Throws `Postponed` where the messages still wait for an answer. */
export async function conclude(settling: Settling, { outcome, acted }: Unattended): Promise<void> {
  const { services, batch } = settling;
  const { db } = services.database;
  const own = inArray(inbox.id, batch.ids);
  if (outcome.status === "failed") {
    const setback = setbackOfTurn(outcome.failure);
    if (!acted) return setBack(settling, setback);
    // The person was told when the turn was recorded. Another one would call its tools once more.
    await db.update(inbox).set({ status: "failed", error: setback.reason }).where(own);
    return warn(settling, setback, "Messages were given up, since tools were called for them");
  }
  if (outcome.status !== "aborted" || outcome.reason === "stop") return;
  const now = services.clock.now();
  if (outcome.reason !== "superseded") throw new Postponed("The turn was interrupted", now);
  await db
    .update(inbox)
    .set({ restarts: sql`${inbox.restarts} + 1` })
    .where(own);
  // Where a job of the newer messages waits, it takes the place of this one.
  throw new Postponed("Newer messages came", now);
}

/** Notes that no turn answered them: they are tried again, for which it throws `Postponed`, or given up. */
export async function setBack(settling: Settling, setback: Setback): Promise<void> {
  const { services, batch } = settling;
  const now = services.clock.now();
  if (setback.kind === "wait") throw new Postponed(setback.reason, now + setback.ms);
  const tried = batch.messages[0].attempts + 1;
  if (isFinal(setback, batch, tried)) return giveUpBatch(settling, setback);
  // What the model refused in company is tried alone.
  const isRefused = setback.kind === "refused";
  const attempts = isRefused ? sql`greatest(${inbox.attempts} + 1, ${sharedAttempts})` : sql`${inbox.attempts} + 1`;
  await services.database.db.update(inbox).set({ attempts }).where(inArray(inbox.id, batch.ids));
  warn(settling, setback, "Messages could not be answered and will be tried again");
  const restMs = setback.kind === "again" ? Math.max(setback.ms, backoffMs(tried, Math.random())) : 0;
  throw new Postponed(setback.reason, now + restMs);
}

function isFinal({ kind }: Setback, { messages }: Batch, tried: number): boolean {
  if (kind === "closed") return true;
  return kind === "refused" ? messages.length === 1 : tried >= mostAttempts;
}

async function giveUpBatch(settling: Settling, setback: Setback): Promise<void> {
  const { services, wake, pending, batch } = settling;
  const { agent, conversation } = pending;
  const { id: conversationId, organizationId, channelId, channel } = conversation;
  await giveUp(services, {
    ...{ agentId: agent.id, organizationId, conversationId, channelId, channel },
    ...{ ids: batch.ids, error: setback.reason, notice: setback.kind !== "closed" || setback.notice },
  });
  wake();
  warn(settling, setback, "Messages were given up");
}

function warn({ services, pending, batch }: Settling, { reason }: Setback, text: string): void {
  const { agent, conversation } = pending;
  const { id: conversationId, channel } = conversation;
  const attempt = batch.messages[0].attempts + 1;
  const requestId = batch.messages[0].id;
  const about = { agent: agent.slug, channel, conversationId, requestId };
  services.log.warn({ ...about, messages: batch.ids.length, attempt, reason }, text);
}
