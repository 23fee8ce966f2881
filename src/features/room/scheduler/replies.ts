import { and, asc, desc, eq, gt, inArray, or, type SQL, sql } from "drizzle-orm";
import { clip } from "../../../core/text/text.ts";
import type { Db } from "../../../db/client.ts";
import { conversations, eventBacklog, eventDefinitions, messages } from "../../../db/schema.ts";
import { idsOfPlace, outboundPlace } from "../../inbox/index.ts";
import type { RoomClaim } from "./claim.ts";
import { repliesSeen } from "./store-end.ts";

/** A message from a person at a destination of the Room. */
export interface Reply {
  channel: string;
  channelId: string;
  at: Date;
  text: string;
}

/** The most replies in a turn, spread evenly over chats, and the longest text of each in UTF-16 units. */
const [mostReplies, longestReply] = [20, 4_000];

/** In milliseconds: far longer than any wait for a conversation's lock. */
const longestLockMs = 10 * 60_000;

/**
 * Whether a messenger's conversation is at a destination: it is the same chat, a thread or topic of it, or the private
 * chat of a person whose id the destination names; `subject` is a key.
 */
export function isAtPlace(
  of: Record<"channel" | "channelId" | "subject", unknown>,
  place: { channel: unknown; target: unknown },
): SQL {
  const within = sql`starts_with(${of.channelId}, ${place.target} || ':')`;
  const isThere = sql`(${of.channelId} = ${place.target} or ${within} or ${of.subject} = ${place.channel} || ':' || ${place.target})`;
  return sql`(${of.channel} = ${place.channel} and ${isThere})`;
}

/**
 * People's messages since the last turn that read them, at the destinations of the Room and of all open entries, oldest
 * first. The Room has a single read mark, so replies about entries of later turns are read now, too.
 */
export async function readReplies(
  db: Db,
  { agent, room, conversation }: Pick<RoomClaim, "agent" | "room" | "conversation">,
): Promise<Reply[]> {
  const owners = [room, ...(await ownersOfPlaces(db, agent.id))];
  const places: { channel: string; target: string }[] = [];
  for (const place of owners.flatMap((owner) => outboundPlace(agent.id, owner) ?? [])) {
    const ids = await idsOfPlace(db, place, place.target);
    places.push(...ids.map((target) => ({ channel: place.channel, target })));
  }
  if (places.length === 0) return [];
  const seen = conversation?.metadata[repliesSeen];
  const since = typeof seen === "string" ? new Date(seen) : room.createdAt;
  const { channel, channelId, subject, messageCount, updatedAt } = conversations;
  // Uses the index of an agent's recent conversations. The margin is needed: a transaction that waited for a lock
  // stores the time from before the wait.
  const isRecent = and(gt(messageCount, sql`0`), gt(updatedAt, new Date(since.getTime() - longestLockMs)));
  const { createdAt: at, seq, content: text } = messages;
  const chat = sql`${channel}, split_part(${channelId}, ':', 1)`;
  const nth = sql<number>`row_number() over (partition by ${chat} order by ${at} desc, ${seq} desc)`.as("nth");
  const said = db
    .select({ channel, channelId, at, seq, text, nth })
    .from(messages)
    .innerJoin(conversations, eq(conversations.id, messages.conversationId))
    .where(
      and(
        eq(conversations.agentId, agent.id),
        isRecent,
        or(...places.map((place) => isAtPlace({ channel, channelId, subject }, place))),
        eq(messages.role, "user"),
        gt(at, since),
      ),
    )
    .as("said");
  const rows = await db.select().from(said).orderBy(asc(said.nth), desc(said.at)).limit(mostReplies);
  return rows
    .toSorted((a, b) => a.at.getTime() - b.at.getTime() || a.seq - b.seq)
    .map(({ channel, channelId, at, text }) => ({ channel, channelId, at, text: clip(text, longestReply) }));
}

/** The destinations of the definitions that match an agent's open entries. */
function ownersOfPlaces(db: Db, agentId: string) {
  const { outboundChannel, outboundTarget } = eventDefinitions;
  const isOpen = inArray(eventBacklog.status, ["pending", "processing"]);
  return db
    .selectDistinct({ outboundChannel, outboundTarget })
    .from(eventBacklog)
    .innerJoin(eventDefinitions, eq(eventDefinitions.id, eventBacklog.definitionId))
    .where(and(eq(eventBacklog.agentId, agentId), isOpen));
}
