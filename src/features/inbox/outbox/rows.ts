import { z } from "@hono/zod-openapi";
import { and, asc, eq, or, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import { chatOf } from "../../../core/channels/messengers.ts";
import { newId } from "../../../core/ids.ts";
import { storable } from "../../../core/text/text.ts";
import type { Database, Db } from "../../../db/client.ts";
import { assign, insertInto } from "../../../db/fragments.ts";
import { actingAgent, agents, conversations, hooks, jobs, optOuts, outbox, turns } from "../../../db/schema.ts";
import { statement } from "../../../db/statement.ts";
import { defineJob } from "../../../jobs/define.ts";
import { replaceWaiting } from "../../../jobs/enqueue.ts";
import type { Destination } from "./outgoing.ts";

/** Runs the hooks of a reply once all of it was sent. */
export const sentJob = defineJob("outbox.sent", z.object({ turnId: z.uuid() }), ({ turnId }) => turnId);

/** Written with literals, so that the planner uses the index of unsent parts. */
export const isUnsent = sql`${outbox.status} in ('pending', 'sending')`;

/** `chatOf` of a part's target. */
export const chatOfTarget = sql<string>`split_part(${outbox.target}, ':', 1)`;

const isAt = ({ agentId, channel, target }: Destination) =>
  and(eq(outbox.agentId, agentId), eq(outbox.channel, channel), eq(outbox.target, target), isUnsent);

/** Why a person gets no more messages of an agent: the reason on a message or a skipped run. */
export const stoppedAgent = "The person stopped the agent";

/**
 * Whether an opt-out concerns the reader of a chat: it names this private chat, or the chat is named by the person's id.
 */
const isOfChat = (chat: string | SQL) => or(eq(optOuts.channelId, chat), eq(optOuts.sender, chat));

/** Whether the person at a destination opted out of the agent and has not resumed. */
export async function hasStopped(db: Db, { agentId, channel, target }: Destination): Promise<boolean> {
  const isTheirs = and(eq(optOuts.agentId, agentId), eq(optOuts.channel, channel), isOfChat(chatOf(target)));
  const [stopped] = await db.select({ sender: optOuts.sender }).from(optOuts).where(isTheirs).limit(1);
  return stopped !== undefined;
}

/** The first unsent part for a destination. */
export type NextPart = NonNullable<Awaited<ReturnType<typeof readNext>>>;

/** The first unsent part for a destination, with its agent and turn; null for none. */
export async function readNext({ db }: Database, place: Destination) {
  const stopped = db
    .select({ found: sql`1` })
    .from(optOuts)
    .where(and(eq(optOuts.agentId, outbox.agentId), eq(optOuts.channel, outbox.channel), isOfChat(chatOfTarget)));
  const [row] = await db
    .select({
      id: outbox.id,
      status: outbox.status,
      attempts: outbox.attempts,
      body: outbox.body,
      turnId: outbox.turnId,
      mayBeRepeated: outbox.mayBeRepeated,
      retryAt: outbox.retryAt,
      createdAt: outbox.createdAt,
      isStopped: sql<boolean>`exists ${stopped}`,
      /** Whether the part belongs to a conversation of its own channel, as a reply to a person does. */
      isReply: sql<boolean>`coalesce(${conversations.channel} = ${outbox.channel}, false)`,
      agent: { ...actingAgent, active: agents.active },
      /** The public id of the sending conversation; null for none. */
      conversationRef: conversations.ref,
      turn: { subject: turns.subject, conversationId: turns.conversationId },
    })
    .from(outbox)
    .innerJoin(agents, eq(agents.id, outbox.agentId))
    .leftJoin(turns, eq(turns.id, outbox.turnId))
    .leftJoin(conversations, eq(conversations.id, sql`coalesce(${outbox.conversationId}, ${turns.conversationId})`))
    .where(isAt(place))
    .orderBy(asc(outbox.createdAt), asc(outbox.part), asc(outbox.id))
    .limit(1);
  return row ?? null;
}

type PartAttempt = Pick<NextPart, "id" | "attempts">;

/** Whether no other process took the part over, which would count an attempt. */
const isStill = ({ id, attempts }: PartAttempt, status: string) =>
  and(eq(outbox.id, id), eq(outbox.attempts, attempts), eq(outbox.status, status));

/**
 * Notes that a part is about to be sent. Returns the part as then stored, or null when it has changed since it was read.
 */
export async function noteSending<Part extends NextPart>({ db }: Database, part: Part): Promise<Part | null> {
  const mayBeRepeated = part.mayBeRepeated || part.status === "sending";
  const news = { status: "sending", attempts: part.attempts + 1, mayBeRepeated };
  const noted = await db.update(outbox).set(news).where(isStill(part, part.status)).returning({ id: outbox.id });
  return noted.length === 0 ? null : { ...part, ...news };
}

interface Retry {
  /** `sending`: the part may have been sent. */
  status: "pending" | "sending";
  attempts: number;
  retryAt: Date;
  error: string;
}

/** Notes that a part waits before its next attempt. */
export async function noteWaiting({ db }: Database, part: PartAttempt, waiting: Retry): Promise<void> {
  const news = { ...waiting, error: storable(waiting.error) };
  await db.update(outbox).set(news).where(isStill(part, "sending"));
}

/** Gives up a part, and with it the later parts of its turn's reply. */
export async function noteFailed({ db }: Database, part: NextPart, place: Destination, error: string): Promise<void> {
  const itself = eq(outbox.id, part.id);
  const others = part.turnId === null ? undefined : eq(outbox.turnId, part.turnId);
  const why = sql`case when ${itself} then ${storable(error)} else 'An earlier part of the reply was not sent' end`;
  await db
    .update(outbox)
    .set({ status: "failed", error: why, retryAt: null })
    .where(and(isAt(place), others ? sql`(${itself} or ${others})` : itself));
}

/** Gives up all unsent parts of a destination. */
export async function failAll(db: Db, place: Destination, error: string): Promise<void> {
  await db.update(outbox).set({ status: "failed", error, retryAt: null }).where(isAt(place));
}

/** Notes a sent part. When all of a reply is sent, enqueues the job of its hooks. Returns whether there is such a job. */
export async function noteSent(
  database: Database,
  part: PartAttempt,
  sent: { providerMessageId: string; sentAt: Date },
): Promise<boolean> {
  const { id, attempts } = part;
  return (await sentStatement.run(database, { id, attempts, ...sent, jobId: newId() })).length > 0;
}

/** The part that was sent. */
const part = alias(outbox, "part");

/**
 * Whether all parts of the part's reply are sent. Messages that a turn sent while it ran are no reply, and have no
 * conversation.
 */
const isWhole = sql`
  ${part.turnId} is not null and ${part.conversationId} is not null and not exists (
    select 1 from ${outbox} where ${outbox.turnId} = ${part.turnId} and ${outbox.id} <> ${part.id}
      and ${outbox.conversationId} is not null and ${outbox.status} <> 'sent')`;

const hasHooks = sql`exists (
  select 1 from ${hooks} where ${hooks.agentId} = ${part.agentId} and ${hooks.event} = 'response_sent' and ${hooks.enabled})`;

const sentStatement = statement(
  { id: "uuid", attempts: "int", providerMessageId: "text", sentAt: "timestamptz", jobId: "uuid" },
  ({ id, attempts, providerMessageId, sentAt, jobId }) => {
    const news = {
      status: "sent",
      sentAt,
      providerMessageId: sql`nullif(${providerMessageId}, '')`,
      error: sql`null`,
      retryAt: sql`null`,
    };
    const job = {
      id: jobId,
      kind: sentJob.kind,
      key: sql`${part.turnId}::text`,
      organizationId: agents.organizationId,
      payload: sql`jsonb_build_object('turnId', ${part.turnId})`,
      runAt: sql`'-infinity'`,
    };
    return sql<{ id: string }>`
      with ${part} as (
        update ${outbox} set ${assign(outbox, news)}
        where ${outbox.id} = ${id} and ${outbox.attempts} = ${attempts} and ${outbox.status} = 'sending'
        returning ${outbox.id}, ${outbox.agentId}, ${outbox.turnId}, ${outbox.conversationId}
      )
      ${insertInto(jobs, job)} from ${part} join ${agents} on ${agents.id} = ${part.agentId}
      where ${isWhole} and ${hasHooks} ${replaceWaiting} returning ${jobs.id}`;
  },
);
