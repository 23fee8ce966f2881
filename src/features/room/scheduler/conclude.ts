import { eq, inArray, sql } from "drizzle-orm";
import type { Services } from "../../../context.ts";
import type { Db } from "../../../db/client.ts";
import { conversations, eventBacklog, rooms } from "../../../db/schema.ts";
import { enqueue } from "../../../jobs/enqueue.ts";
import { lockRoom, settleDueAt } from "../backlog/settle.ts";
import type { Claimed } from "./claim.ts";
import type { Ending } from "./fates.ts";
import { evaluateJob } from "./kinds.ts";
import { putBack } from "./put-back.ts";

/** How the turn ended that was taken for a claim. */
export interface Concluded {
  ending: Ending;
  /** The turn that waits for a decision; null for others. */
  awaiting: string | null;
  /** The newest message of a person that the stored turn knows; null for none. */
  repliesSeenAt: Date | null;
}

/** Notes what came of a turn of the Room, all in one transaction. What another claim took over is left to that one. */
export function conclude({ database, clock }: Services, claimed: Claimed, concluded: Concluded): Promise<void> {
  const { agent, claim, leaves } = claimed;
  const { ending, awaiting } = concluded;
  const agentId = agent.id;
  return database.transaction(async (tx) => {
    const now = clock.now();
    if (!(await lockRoom(tx, agentId))) return;
    const waiting = await putBack(tx, { agentId, now }, ending, claim);
    if (awaiting !== null && waiting.length > 0) {
      // The end of that turn finds them by it.
      await tx.update(eventBacklog).set({ claim: awaiting }).where(inArray(eventBacklog.id, waiting));
    }
    await noteReplies(tx, claimed, concluded);
    if (ending.kind === "undone") return;
    await tx
      .update(rooms)
      .set({ lastEvaluatedAt: new Date(now) })
      .where(eq(rooms.agentId, agentId));
    await settleDueAt(tx, agentId, now);
    if (!leaves) return;
    await enqueue(tx, evaluateJob.of({ agentId }), { organizationId: agent.organizationId });
  });
}

/** The field of the conversation's metadata that tells which replies of people its turns know. */
export const repliesSeen = "repliesSeenAt";

async function noteReplies(tx: Db, { room }: Claimed, { repliesSeenAt }: Concluded): Promise<void> {
  if (repliesSeenAt === null) return;
  const seen = sql`jsonb_build_object(${repliesSeen}::text, ${repliesSeenAt.toISOString()}::text)`;
  await tx
    .update(conversations)
    .set({ metadata: sql`${conversations.metadata} || ${seen}` })
    .where(eq(conversations.ref, room.conversationRef));
}
