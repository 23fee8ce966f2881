import { and, eq, ne, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import { messengerNames } from "../../../core/channels/messengers.ts";
import { EngineError } from "../../../core/errors.ts";
import { newId } from "../../../core/ids.ts";
import type { Db } from "../../../db/client.ts";
import { agents, channels, outbox, turns } from "../../../db/schema.ts";
import { enqueue } from "../../../jobs/enqueue.ts";
import { isAskable } from "../../agents/index.ts";
import { echoWork } from "./echo.ts";
import { type Destination, outgoing } from "./outgoing.ts";
import { hasStopped } from "./rows.ts";

/** A Markdown text for a destination. */
export interface Message extends Destination {
  organizationId: string;
  text: string;
  /** The sending turn; null for a notice of the engine, which people get even after they opted out. */
  turnId: string | null;
  /** The conversation of the message; absent for none. */
  conversationId?: string;
}

/**
 * Sends a text once the transaction of `tx` commits. A turn's text also becomes part of the conversation at its
 * destination. Wake the worker afterwards. Throws 400 for a blank text and for a channel that can't send, 409 when the
 * channel is off or the person opted out.
 */
export async function sendTo(
  tx: Db,
  { organizationId, text, turnId, conversationId, ...place }: Message,
): Promise<void> {
  const { sends, work } = outgoing(place, text);
  if (sends.length === 0) throw new EngineError("bad-request", "There is nothing to send: give a text");
  await requireOpen(tx, place);
  if (turnId !== null && (await hasStopped(tx, place))) {
    throw new EngineError("conflict", "The person stopped the agent, and has not resumed it");
  }
  const first = turnId === null ? 0 : await nextPart(tx, turnId);
  const { agentId } = place;
  const owner = { agentId, turnId, conversationId: conversationId ?? null };
  await tx.insert(outbox).values(sends.map((send, index) => ({ ...send, ...owner, id: newId(), part: first + index })));
  // Notices of the engine are not the agent's messages, so they do not become part of a conversation.
  const echo = turnId === null ? [] : echoWork(place, { sends }, { turnId, first });
  for (const job of [...work, ...echo]) await enqueue(tx, job, { organizationId });
}

async function requireOpen(tx: Db, { agentId, channel, target }: Destination): Promise<void> {
  if (channel === "agent") return requireNeighbour(tx, agentId, target);
  const name = messengerNames.find((known) => known === channel);
  if (!name) throw new EngineError("bad-request", `Nothing can be sent over the channel ${channel}`);
  const isOn = and(eq(channels.agentId, agentId), eq(channels.type, name), eq(channels.enabled, true));
  const [found] = await tx.select({ id: channels.id }).from(channels).where(isOn);
  if (!found) throw new EngineError("conflict", `The agent's channel ${name} is off: turn it on to send over it`);
}

/** Throws unless the target is another active agent of the same workspace. */
async function requireNeighbour(tx: Db, agentId: string, slug: string): Promise<void> {
  const sender = alias(agents, "sender");
  const [found] = await tx
    .select({ id: agents.id })
    .from(agents)
    .innerJoin(sender, and(eq(sender.id, agentId), eq(sender.workspaceId, agents.workspaceId)))
    .where(and(eq(agents.slug, slug), ne(agents.id, agentId), isAskable(tx)));
  if (!found) throw new EngineError("conflict", `No other active agent ${slug} of the workspace answers agents`);
}

/** The number of the first part that a running turn sends: after all parts of its reply. */
const firstOfOthers = 10_000;

/** Locks, so that simultaneous calls of one turn get different numbers. */
async function nextPart(tx: Db, turnId: string): Promise<number> {
  await tx.select({ id: turns.id }).from(turns).where(eq(turns.id, turnId)).for("no key update");
  const last = sql<number>`coalesce(max(${outbox.part}), 0)`;
  const [row] = await tx.select({ last }).from(outbox).where(eq(outbox.turnId, turnId));
  return Math.max(firstOfOthers, (row?.last ?? 0) + 1);
}
