import { sql } from "drizzle-orm";
import type { Incoming } from "../../../core/channels/messengers.ts";
import { storableJson } from "../../../core/text/text.ts";
import type { Db } from "../../../db/client.ts";
import { albums } from "../../../db/schema.ts";
import type { MessengerChannel } from "../../channels/index.ts";

/** The most parts of an album, more than any messenger allows, including edits. */
const mostParts = 50;

/**
 * Returns the messages for the agent. In a group only one part of an album mentions the agent. The other parts wait for
 * it, since parts arrive in any order at any replica, and an album is one message (decisions §8).
 */
export async function withAlbums(
  tx: Db,
  channel: MessengerChannel,
  messages: readonly Incoming[],
): Promise<readonly Incoming[]> {
  if (!messages.some(isOfGroup)) return messages;
  const meant = new Map<string, Incoming>();
  for (const message of messages) {
    const parts = isOfGroup(message) ? await partsWith(tx, channel, message) : [message];
    for (const part of parts) meant.set(part.providerId, part);
  }
  return [...meant.values()];
}

const isOfGroup = ({ album, isPrivate }: Incoming) => album !== null && !isPrivate;

/**
 * Adds a part to its album; returns all parts once the album addresses the agent. The row is locked until the commit.
 */
async function partsWith(tx: Db, { agent, name }: MessengerChannel, part: Incoming): Promise<readonly Incoming[]> {
  if (part.album === null) return [part];
  const { id, isMeant } = part.album;
  const parts = sql<Incoming[]>`${storableJson([part])}::jsonb`;
  const fits = sql`jsonb_array_length(${albums.parts}) < ${mostParts}`;
  const [album] = await tx
    .insert(albums)
    .values({ agentId: agent.id, channel: name, albumId: id, isMeant, parts })
    .onConflictDoUpdate({
      target: [albums.agentId, albums.channel, albums.albumId],
      set: {
        isMeant: sql`${albums.isMeant} or excluded.is_meant`,
        parts: sql`case when ${fits} then ${albums.parts} || excluded.parts else ${albums.parts} end`,
      },
    })
    .returning({ isMeant: albums.isMeant, parts: albums.parts });
  return album?.isMeant ? album.parts : [];
}
