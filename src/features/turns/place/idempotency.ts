import { eq, sql } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import { EngineError } from "../../../core/errors.ts";
import { fields, type RowOf } from "../../../db/fragments.ts";
import { conversations, messages, toolCalls, turns } from "../../../db/schema.ts";
import { statement } from "../../../db/statement.ts";
import type { Idempotency } from "../request.ts";
import { isOverdue, type Leases } from "./leases.ts";

// `Idempotency-Key` (decisions §5): a turn holds the key of its request for a day, or until it fails or is aborted.

/** The reply to an earlier request with the key. */
export interface StoredReply {
  turnId: string;
  content: string;
  promptTokens: number;
  completionTokens: number;
  metadata: Record<string, unknown>;
  /** The tools whose calls needed approval. */
  pending: string[];
}

const repeatStatement = statement({ agentId: "uuid", ref: "text", key: "text" }, ({ agentId, ref, key }) => {
  const waited = sql`
    select distinct ${toolCalls.name} from ${toolCalls}
    where ${toolCalls.turnId} = ${turns.id} and ${toolCalls.args} is not null order by 1`;
  const row = fields({
    turnId: turns.id,
    status: turns.status,
    digest: turns.requestDigest,
    overdue: isOverdue,
    old: sql<boolean>`${turns.createdAt} < now() - interval '24 hours'`,
    content: sql<string>`coalesce(${messages.content}, '')`,
    metadata: sql<Record<string, unknown>>`coalesce(${messages.metadata}, '{}')`,
    promptTokens: turns.promptTokens,
    completionTokens: turns.completionTokens,
    pending: sql<string[]>`array(${waited})`,
  });
  return sql<RowOf<typeof row>>`
    select ${row}
    from ${conversations} join ${turns} on ${turns.conversationId} = ${conversations.id}
    left join ${messages} on ${messages.id} = ${turns.id}
    where ${conversations.ref} = ${ref} and ${turns.idempotencyKey} = ${key} and ${turns.agentId} = ${agentId}`;
});

/** A conversation, identified by its public id and its agent: two agents may use the same public id. */
interface ConversationKey {
  agentId: string;
  ref: string;
}

/**
 * Finds the stored reply to an earlier request of the conversation with this key; null for the first request. Throws
 * 422 for another body, and 409 while the earlier request runs.
 */
export async function findRepeat(
  needs: Pick<Services, "database"> & { leases: Leases },
  asked: ConversationKey,
  { key, digest: body }: Idempotency,
): Promise<StoredReply | null> {
  const { database, leases } = needs;
  const [row] = await repeatStatement.run(database, { ...asked, key });
  if (!row) return null;
  const { status, digest: known, overdue, old, ...reply } = row;
  const open = status === "queued" || status === "running";
  const isOrphan = open && leases.isOrphan(row.turnId);
  if (isOrphan) await leases.closeOrphans();
  if (isOrphan || (overdue && (await leases.closeLost()) > 0)) return findRepeat(needs, asked, { key, digest: body });
  if (old && !open) {
    await database.db.update(turns).set({ idempotencyKey: null }).where(eq(turns.id, row.turnId));
    return null;
  }
  if (known !== body) {
    throw new EngineError("unprocessable", "This Idempotency-Key was used with another body: use a new one");
  }
  if (open) throw stillRunning();
  return reply;
}

export function stillRunning(): EngineError {
  return new EngineError("conflict", "A request with this Idempotency-Key is still running", {
    retryAfterSeconds: 1,
  });
}
