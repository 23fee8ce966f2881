import { and, inArray, not, sql } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import { isOpen, streamChunks, toolCalls, turns, userBudgetPeriods } from "../../../db/schema.ts";
import { batchesOf, type ErasedPerson, isOneOf, isSubject } from "../../../jobs/erased-rows.ts";
import { Postponed } from "../../../jobs/postponed.ts";

/** How long the job waits for stopped turns, in milliseconds. */
const endingMs = 5_000;

/**
 * Stops the person's turns, and then removes the person and the content from those without a conversation; their numbers
 * stay. The others are erased with their conversations. Throws `Postponed` while a turn is open, since its end writes
 * under the person's key.
 */
export async function eraseTurns({ database, notify, clock }: Services, person: ErasedPerson): Promise<void> {
  const { db } = database;
  for (const agent of person.agents) {
    const ofPerson = and(sql`${turns.agentId} = ${agent.id}`, isSubject(turns.subject, person, agent));
    const open = await db
      .update(turns)
      .set({ stopRequested: true })
      .where(and(ofPerson, isOpen(turns)))
      .returning({ id: turns.id });
    for (const { id } of open) notify.publish("turn-stopped", id);
    if (open.length > 0) throw new Postponed("Turns of the person end", clock.now() + endingMs);
  }
  for (const agent of person.agents) {
    const ofPerson = sql`${isSubject(turns.subject, person, agent)} and ${turns.conversationId} is null`;
    const wanted = { table: turns, along: turns.createdAt, agentId: agent.id, where: ofPerson };
    for await (const ids of batchesOf(db, person, wanted)) {
      await database.transaction(async (tx) => {
        await tx.update(toolCalls).set({ args: null, reason: null }).where(inArray(toolCalls.turnId, ids));
        await tx.delete(streamChunks).where(inArray(streamChunks.turnId, ids));
        await tx
          .update(turns)
          .set({ subject: "", suspended: null, debug: null, idempotencyKey: null, requestDigest: null })
          .where(and(isOneOf(turns.id, ids, "uuid"), not(isOpen(turns))));
      });
    }
    await db
      .delete(userBudgetPeriods)
      .where(and(sql`${userBudgetPeriods.agentId} = ${agent.id}`, isSubject(userBudgetPeriods.subject, person, agent)));
  }
}
