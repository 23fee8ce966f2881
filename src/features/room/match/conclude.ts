import { and, eq, sql } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import { type Activity, asActing } from "../../../core/activity/activity.ts";
import { previewOfText } from "../../../core/activity/preview.ts";
import { storableJson } from "../../../core/text/text.ts";
import type { Db } from "../../../db/client.ts";
import { unlessOvertaken } from "../../../db/retry.ts";
import { agents, eventDefinitions, type eventOutcomes, roomEvents } from "../../../db/schema.ts";
import { enqueue } from "../../../jobs/enqueue.ts";
import { Postponed } from "../../../jobs/postponed.ts";
import { addToBacklog } from "../backlog/add.ts";
import { freeRoomRef } from "../conversation-ref.ts";
import { converseJob } from "../ledger/store.ts";
import type { EventDefinition } from "../sources/find.ts";
import type { PendingEvent } from "./event.ts";
import type { Verdict } from "./schema.ts";

/** How the matching of an event ended: with a definition, whose action follows, or without. */
export type MatchEnd =
  | { definition: EventDefinition }
  /** `reason` contains no secrets. */
  | { outcome: (typeof eventOutcomes)[number]; reason?: string };

type Columns = Partial<typeof roomEvents.$inferInsert>;

/**
 * Stores the end of an event's matching together with its effect: an entry in the backlog, or the job of a turn. Does
 * nothing when another process did so meanwhile. Wake the worker afterwards. Throws `Postponed` when the definition was
 * deleted meanwhile, since another one may match.
 */
export async function conclude(
  { database, clock, activity }: Pick<Services, "database" | "clock" | "activity">,
  event: PendingEvent,
  ending: MatchEnd,
): Promise<void> {
  const stored = await unlessOvertaken(() =>
    database.transaction(async (tx) => {
      const now = clock.now();
      // Locked before the event, in the same order as by the deletion of an agent.
      if ("definition" in ending && ending.definition.action === "conversation") await lockAgent(tx, event.agent.id);
      const isPending = and(eq(roomEvents.id, event.id), eq(roomEvents.outcome, "pending"));
      const [found] = await tx.select({ id: roomEvents.id }).from(roomEvents).where(isPending).for("update");
      if (!found) return null;
      const columns = "definition" in ending ? await act(tx, event, ending.definition, now) : ending;
      // From here on `attempts` counts those of the turn.
      const common = { verdicts: jsonOf(event.verdicts), matchedAt: new Date(now), attempts: 0 };
      await tx
        .update(roomEvents)
        .set({ ...common, ...columns })
        .where(eq(roomEvents.id, event.id));
      return columns;
    }),
  );
  if (stored) activity.emit(matched(event, ending, stored));
}

/** The activity of an event whose end was stored. */
function matched({ sourceName, agent }: PendingEvent, ending: MatchEnd, stored: Columns): Activity {
  const source = sourceName ?? "a deleted source";
  const definition = "definition" in ending ? ending.definition.name : null;
  const did = definition === null ? "matches no definition" : `matches "${definition}"`;
  const why = stored.reason ? `: ${stored.reason}` : "";
  return {
    kind: "webhook",
    text: previewOfText(`An event of ${source} ${stored.outcome === "matcher-failed" ? "was not matched" : did}${why}`),
    status: stored.outcome === "matcher-failed" ? "failed" : "ok",
    agent: asActing(agent),
    conversationId: stored.conversationRef ?? null,
    webhook: { source, phase: "matched", ...(definition === null ? {} : { definition }) },
  };
}

/** Stores the verdicts found before an error, and the number of failures of the model. */
export async function noteAttempt(
  { database }: Pick<Services, "database">,
  { id, verdicts }: PendingEvent,
  attempts: number,
): Promise<void> {
  const isPending = and(eq(roomEvents.id, id), eq(roomEvents.outcome, "pending"));
  await database.db
    .update(roomEvents)
    .set({ attempts, verdicts: jsonOf(verdicts) })
    .where(isPending);
}

/** Storable JSON, since a model wrote parts of the verdicts. */
const jsonOf = (verdicts: readonly Verdict[]) => sql<Verdict[]>`${storableJson(verdicts)}::jsonb`;

/** Locks the agent, so that Room conversations of it begin one after the other, each with its own id. */
async function lockAgent(tx: Db, agentId: string): Promise<void> {
  await tx.select({ id: agents.id }).from(agents).where(eq(agents.id, agentId)).for("no key update");
}

/** Keeps the definition from being deleted until the transaction ends. Throws `Postponed` for a deleted one. */
async function holdDefinition(tx: Db, id: string, now: number): Promise<void> {
  const own = tx.select({ id: eventDefinitions.id }).from(eventDefinitions).where(eq(eventDefinitions.id, id));
  const [found] = await own.for("key share");
  if (!found) throw new Postponed("The definition was deleted meanwhile", now);
}

async function act(tx: Db, event: PendingEvent, definition: EventDefinition, now: number): Promise<Columns> {
  const { id: agentId, slug, organizationId } = event.agent;
  const common = { definitionId: definition.id };
  await holdDefinition(tx, definition.id, now);
  if (definition.action === "conversation") {
    const { ref } = await freeRoomRef(tx, slug, now);
    await enqueue(tx, converseJob.of({ eventId: event.id, agentId }), { organizationId });
    return { ...common, outcome: "conversation", conversationRef: ref };
  }
  const entry = { agentId, organizationId, roomEventId: event.id, definitionId: definition.id };
  const added = await addToBacklog(tx, { ...entry, payload: event.payload, now });
  if (added.outcome === "backlog") return { ...common, ...added };
  return { ...common, outcome: added.outcome, reason: whyNot[added.outcome] };
}

/** Why an event matched no definition, or had no action: texts for the ledger. */
export const whyNot = {
  "room-off": "The Room is off",
  "backlog-full": "The backlog holds 100 pending entries",
} as const;

export const inactive = "The agent is inactive";
