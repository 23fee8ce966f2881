import { and, eq, isNull } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import type { JsonValue } from "../../../core/json.ts";
import type { Db } from "../../../db/client.ts";
import { agents, eventDefinitions, roomEvents, rooms } from "../../../db/schema.ts";
import { continuedElsewhere, outboundPlace } from "../../inbox/index.ts";
import type { ContinuedBy } from "../../turns/index.ts";

/** An event that began a conversation. */
export interface ConversationEvent {
  id: string;
  /** `room:<slug>:<ms>`. */
  ref: string;
  payload: JsonValue;
  /** The number of its failed turns. */
  attempts: number;
  agent: { id: string; slug: string };
  /** The agent, as its tools need it. */
  owner: { id: string; organizationId: string };
  definitionId: string | null;
  /** Null when the event's definition was deleted. */
  contextPrompt: string | null;
  /** The definition's name. */
  name: string;
  /** The destination of the reply: the definition's, else the Room's; null for none. */
  place: ReturnType<typeof outboundPlace>;
}

/** Null for an event that was deleted, began no conversation, or was given up. */
export async function readConversation(db: Db, eventId: string): Promise<ConversationEvent | null> {
  const begins = and(eq(roomEvents.outcome, "conversation"), isNull(roomEvents.reason));
  const [row] = await select(db).where(and(eq(roomEvents.id, eventId), begins));
  const ref = row?.event.conversationRef ?? null;
  if (!row || ref === null) return null;
  const { event, agent, definition } = row;
  const { id, attempts, organizationId, definitionId } = event;
  return {
    owner: { id: agent.id, organizationId },
    definitionId,
    id,
    ref,
    attempts,
    agent,
    place: placeOf(row),
    payload: event.payload as JsonValue,
    contextPrompt: definition?.contextPrompt ?? null,
    name: definition?.name ?? "",
  };
}

/**
 * The destination for replies of a conversation that an event began; null for none, undefined for another conversation.
 */
async function placeOfConversation(
  db: Db,
  { agentId, ref }: { agentId: string; ref: string },
): Promise<ConversationEvent["place"] | undefined> {
  const [row] = await select(db).where(and(eq(roomEvents.agentId, agentId), eq(roomEvents.conversationRef, ref)));
  return row && placeOf(row);
}

function select(db: Db) {
  return db
    .select({
      event: roomEvents,
      agent: { id: agents.id, slug: agents.slug },
      definition: eventDefinitions,
      room: rooms,
    })
    .from(roomEvents)
    .innerJoin(agents, eq(agents.id, roomEvents.agentId))
    .leftJoin(eventDefinitions, eq(eventDefinitions.id, roomEvents.definitionId))
    .leftJoin(rooms, eq(rooms.agentId, roomEvents.agentId));
}

type Row = Awaited<ReturnType<typeof select>>[number];

const placeOf = ({ agent, definition, room }: Row) =>
  outboundPlace(agent.id, definition ?? {}) ?? outboundPlace(agent.id, room ?? {});

/** Sends the reply of an event's turn that continues after an approval, as the reply of any event is sent. */
export function continuedReply({ database }: Pick<Services, "database">): ContinuedBy {
  return async ({ channel, agentId, ref }) => {
    if (channel !== "room") return {};
    const place = await placeOfConversation(database.db, { agentId, ref });
    return place ? { alongside: continuedElsewhere(place) } : {};
  };
}
