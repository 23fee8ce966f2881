import { eq, inArray, sql } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import type { Db } from "../../../db/client.ts";
import { conversations, eventBacklog, rooms } from "../../../db/schema.ts";
import { enqueue } from "../../../jobs/enqueue.ts";
import type { AttemptEnd } from "../../turns/index.ts";
import { lockRoom, settleDueAt } from "../backlog/settle.ts";
import type { RoomClaim } from "./claim.ts";
import { putBack } from "./fates.ts";
import { evaluateJob } from "./job.ts";

/** The end of a claim's turn. */
export interface ClaimEnd {
  end: AttemptEnd;
  /** Null when no turn was run. */
  turnId: string | null;
  /** The newest reply that the stored turn read; null for none. */
  repliesSeenAt: Date | null;
}

/** Stores the end of a Room's turn in one transaction. Entries that another claim took over are left to it. */
export function storeEnd({ database, clock }: Services, claimed: RoomClaim, ended: ClaimEnd): Promise<void> {
  const { agent, claim, leaves } = claimed;
  const { end, turnId } = ended;
  const agentId = agent.id;
  return database.transaction(async (tx) => {
    const now = clock.now();
    if (!(await lockRoom(tx, agentId))) return;
    const waiting = await putBack(tx, { agentId, now }, end, claim);
    if (end.kind === "approval" && waiting.length > 0) {
      // When the turn that waits for approval ends, the entries are found by this claim.
      await tx.update(eventBacklog).set({ claim: turnId }).where(inArray(eventBacklog.id, waiting));
    }
    await noteReplies(tx, claimed, ended);
    if (end.kind === "defer") return;
    await tx
      .update(rooms)
      .set({ lastEvaluatedAt: new Date(now) })
      .where(eq(rooms.agentId, agentId));
    await settleDueAt(tx, agentId, now);
    if (!leaves) return;
    await enqueue(tx, evaluateJob.of({ agentId }), { organizationId: agent.organizationId });
  });
}

/** The metadata field with the time of the last read reply. */
export const repliesSeen = "repliesSeenAt";

async function noteReplies(tx: Db, { room }: RoomClaim, { end, repliesSeenAt }: ClaimEnd): Promise<void> {
  if (repliesSeenAt === null || (end.kind !== "done" && end.kind !== "approval")) return;
  const seen = sql`jsonb_build_object(${repliesSeen}::text, ${repliesSeenAt.toISOString()}::text)`;
  await tx
    .update(conversations)
    .set({ metadata: sql`${conversations.metadata} || ${seen}` })
    .where(eq(conversations.ref, room.conversationRef));
}
