import { z } from "@hono/zod-openapi";
import { and, eq, sql } from "drizzle-orm";
import { storable } from "../../../../core/text/text.ts";
import type { Db } from "../../../../db/client.ts";
import { hasId } from "../../../../db/fragments.ts";
import { eventBacklog, eventDefinitions, rooms } from "../../../../db/schema.ts";
import type { Tool, ToolContext } from "../../../../turn/types.ts";
import { outboundPlace, sendTo } from "../../../inbox/index.ts";
import { builtin } from "../../../tools/index.ts";
import { patienceMs } from "../fates.ts";
import type { RoomAgent, ToolDependencies } from "./dependencies.ts";

const message = z.string().trim().min(1).max(32_768).describe("What to tell them, in Markdown.");

const description =
  "Sends a message to the people whom the operator set for this, over one of your channels. They may reply there, but not in this conversation.";

const shared = { name: "sendMessageToHuman", category: "Room", effect: "external", seesSecrets: false } as const;

const plain = builtin({ ...shared, description, input: z.object({ message }) });

const ofRoom = builtin({
  ...shared,
  description: `${description} An event that you don't mark as completed then waits for their reply, a day at most.`,
  input: z.object({
    message,
    eventId: z.string().optional().describe("The event that it is about; absent for all that you were given."),
  }),
});

/** The tool in an event's turn. It sends to the definition's destination, or else to the Room's. */
export function sendMessageTool(needs: ToolDependencies, agent: RoomAgent, definitionId: string | null): Tool {
  return plain.implement(async ({ message }, context) => {
    await send(needs, agent, context, message, (tx) => placeOfDefinition(tx, agent.id, definitionId));
    return { sent: true };
  });
}

/** The tool in a Room's turn. The event, or the whole claim, then waits for a reply, unless an agent gets the message. */
export function sendMessageOfRoom(needs: ToolDependencies, agent: RoomAgent, claim: string): Tool {
  return ofRoom.implement(async ({ message, eventId }, context) => {
    const until = needs.services.clock.now() + patienceMs;
    const { channel } = await send(needs, agent, context, message, async (tx) => {
      const definitionId = eventId === undefined ? null : await definitionOf(tx, agent.id, eventId);
      const place = await placeOfDefinition(tx, agent.id, definitionId);
      if (place?.channel !== "agent") await letWait(tx, { agentId: agent.id, claim, eventId, until });
      return place;
    });
    return channel === "agent" ? { sent: true, note: noReply } : { sent: true };
  });
}

const noReply = "Another agent reads this, and no reply comes: mark the event as completed where nothing is left to do";

type Destination = ReturnType<typeof outboundPlace>;

/** Sends a message; returns its destination. */
async function send(
  { services, wake }: ToolDependencies,
  { organizationId }: RoomAgent,
  { turnId }: Pick<ToolContext, "turnId">,
  message: string,
  findPlace: (tx: Db) => Promise<Destination>,
): Promise<NonNullable<Destination>> {
  const place = await services.database.transaction(async (tx) => {
    const found = await findPlace(tx);
    if (!found) throw new Error("Nobody can be told: the operator has set no place to send messages to");
    await sendTo(tx, { ...found, organizationId, turnId, text: storable(message) });
    return found;
  });
  wake();
  return place;
}

/** The destination of the definition, or else of the Room; never one that the model chooses. */
async function placeOfDefinition(tx: Db, agentId: string, definitionId: string | null): Promise<Destination> {
  const { outboundChannel, outboundTarget } = eventDefinitions;
  const isOwn = and(eq(eventDefinitions.agentId, agentId), eq(eventDefinitions.id, definitionId ?? ""));
  const [definition] =
    definitionId === null
      ? []
      : await tx.select({ outboundChannel, outboundTarget }).from(eventDefinitions).where(isOwn);
  const place = definition && outboundPlace(agentId, definition);
  if (place) return place;
  const [room] = await tx.select().from(rooms).where(eq(rooms.agentId, agentId));
  return room ? outboundPlace(agentId, room) : null;
}

/** The definition of an entry; null when it was deleted. Throws an `Error` for the model when the entry does not exist. */
async function definitionOf(tx: Db, agentId: string, eventId: string): Promise<string | null> {
  const { id, definitionId } = eventBacklog;
  const [entry] = await tx
    .select({ definitionId })
    .from(eventBacklog)
    .where(and(hasId(id, eventId), eq(eventBacklog.agentId, agentId)));
  if (!entry) throw new Error(`There is no event ${eventId}: give its id as you got it, or leave it out`);
  return entry.definitionId;
}

interface ReplyWait {
  agentId: string;
  claim: string;
  eventId: string | undefined;
  /** In milliseconds since the epoch. */
  until: number;
}

/** Makes entries wait without changing their status: the turn's end, or the next claim, updates the Room. */
async function letWait(tx: Db, { agentId, claim, eventId, until }: ReplyWait): Promise<void> {
  const { id, status } = eventBacklog;
  const own = and(eq(eventBacklog.agentId, agentId), eq(eventBacklog.claim, claim));
  await tx
    .update(eventBacklog)
    .set({
      notBefore: new Date(until),
      // An entry that waited for approval now waits for the reply, whatever the turn's end.
      claim: sql`case when ${status} = 'processing' then ${eventBacklog.claim} end`,
    })
    .where(and(own, eventId === undefined ? undefined : eq(id, eventId)));
}
