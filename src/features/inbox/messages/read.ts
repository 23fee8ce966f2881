import { and, desc, eq, type SQL, sql } from "drizzle-orm";
import { unionAll } from "drizzle-orm/pg-core";
import type { Ctx } from "../../../context/ctx.ts";
import type { Db } from "../../../db/client.ts";
import { hasId } from "../../../db/fragments.ts";
import { conversations, inbox, outbox } from "../../../db/schema.ts";
import { countTotal } from "../../../http/paging.ts";
import { findAgent } from "../../agents/index.ts";
import { channelType } from "../../channels/index.ts";
import type { ChannelMessage, MessagesQuery } from "./schema.ts";

/** The messages of an agent's channel. */
export interface Mailbox {
  agentId: string;
  channel: string;
}

type MessageFilter = Pick<MessagesQuery, "direction" | "status"> & { id?: string };

/**
 * A page of a channel's incoming and outgoing messages, newest first. Throws the 404 of the agent and of the channel.
 */
export async function listMessages(ctx: Ctx, slug: string, type: string, query: MessagesQuery) {
  const { limit = 50, offset = 0, ...wanted } = query;
  const { id: agentId } = await findAgent(ctx, slug);
  const mailbox = { agentId, channel: channelType(type) };
  const rows = await selectMessages(ctx.db, mailbox, wanted)
    .orderBy(desc(sql`created_at`), desc(sql`id`))
    .limit(limit)
    .offset(offset);
  const total = await countTotal(ctx.db, rows.length, { limit, offset }, selectMessages(ctx.db, mailbox, wanted));
  return { messages: rows.map((row) => toMessage(ctx, row)), total, limit, offset };
}

/** The message with this id; null when the channel has none. */
export async function findMessage(ctx: Ctx, mailbox: Mailbox, id: string): Promise<ChannelMessage | null> {
  const [row] = await selectMessages(ctx.db, mailbox, { id });
  return row ? toMessage(ctx, row) : null;
}

function selectMessages(db: Db, mailbox: Mailbox, { direction, status, id }: MessageFilter) {
  const of = (table: typeof inbox | typeof outbox, own: ChannelMessage["direction"]): SQL | undefined =>
    and(
      eq(table.agentId, mailbox.agentId),
      eq(table.channel, mailbox.channel),
      status === undefined ? undefined : eq(table.status, status),
      id === undefined ? undefined : hasId(table.id, id),
      direction === undefined || direction === own ? undefined : sql`false`,
    );
  const came = db
    .select({
      id: inbox.id,
      direction: sql<string>`'in'`.as("direction"),
      status: inbox.status,
      ref: sql<string | null>`${conversations.ref}`.as("ref"),
      peer: sql<string>`${inbox.sender}`.as("peer"),
      // A forwarded message without a text of its own shows the text of the original.
      text: sql<string>`coalesce(nullif(${inbox.payload} ->> 'text', ''), ${inbox.payload} #>> '{quotes,0,text}', '')`.as(
        "text",
      ),
      error: inbox.error,
      attempts: inbox.attempts,
      mayBeRepeated: sql<boolean>`false`.as("may_be_repeated"),
      turnId: inbox.turnId,
      createdAt: inbox.createdAt,
      sentAt: sql<Date | null>`null::timestamptz`.mapWith(outbox.sentAt).as("sent_at"),
    })
    .from(inbox)
    .leftJoin(conversations, eq(conversations.id, inbox.conversationId))
    .where(of(inbox, "in"));
  const left = db
    .select({
      id: outbox.id,
      direction: sql<string>`'out'`.as("direction"),
      status: outbox.status,
      ref: sql<string | null>`${conversations.ref}`.as("ref"),
      peer: sql<string>`${outbox.target}`.as("peer"),
      text: sql<string>`${outbox.body}`.as("text"),
      error: outbox.error,
      attempts: outbox.attempts,
      mayBeRepeated: sql<boolean>`${outbox.mayBeRepeated}`.as("may_be_repeated"),
      turnId: outbox.turnId,
      createdAt: outbox.createdAt,
      sentAt: sql<Date | null>`${outbox.sentAt}`.mapWith(outbox.sentAt).as("sent_at"),
    })
    .from(outbox)
    .leftJoin(conversations, eq(conversations.id, outbox.conversationId))
    .where(of(outbox, "out"));
  return unionAll(came, left);
}

type Row = Awaited<ReturnType<typeof selectMessages>>[number];

function toMessage({ membership }: Ctx, { ref, text, createdAt, sentAt, direction, status, ...row }: Row) {
  return {
    ...row,
    direction: direction as ChannelMessage["direction"],
    status: status as ChannelMessage["status"],
    conversationId: ref,
    text: membership.permissions.has("conversation:read") ? text : null,
    createdAt: createdAt.toISOString(),
    sentAt: sentAt?.toISOString() ?? null,
  };
}
