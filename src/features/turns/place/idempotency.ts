import { EngineError } from "../../../core/errors.ts";
import type { Database } from "../../../db/client.ts";
import type { Idempotency } from "../request.ts";
import { closeLost } from "./leases.ts";

// `Idempotency-Key` (decisions §5): a turn carries the key of its request until it fails, is aborted or is a day old.

/** The reply that an earlier request with the key was given. */
export interface StoredReply {
  turnId: string;
  content: string;
  promptTokens: number;
  completionTokens: number;
  metadata: Record<string, unknown>;
  /** The tools at which it waited for a decision. */
  pending: string[];
}

interface Row extends StoredReply {
  status: string;
  digest: string;
  dead: boolean;
  old: boolean;
}

const statement = `
  select t.id as "turnId", t.status, t.request_digest as digest,
    t.status in ('queued', 'running') and t.lease_until < now() as dead,
    t.created_at < now() - interval '24 hours' as old,
    coalesce(m.content, '') as content, coalesce(m.metadata, '{}') as metadata,
    t.prompt_tokens as "promptTokens", t.completion_tokens as "completionTokens",
    array(select distinct k.name from tool_calls k where k.turn_id = t.id and k.args is not null order by 1) as pending
  from conversations c join turns t on t.conversation_id = c.id left join messages m on m.id = t.id
  where c.ref = $1 and t.idempotency_key = $2`;

/**
 * What an earlier request of the conversation with this key was answered; null for the first one. Throws 422 for one
 * with another body and 409 while it runs.
 */
export async function findRepeat(
  database: Database,
  ref: string,
  { key, digest: body }: Idempotency,
): Promise<StoredReply | null> {
  const [row] = await database.query<Row>(statement, [ref, key]);
  if (!row) return null;
  if (row.dead) {
    await closeLost(database);
    return findRepeat(database, ref, { key, digest: body });
  }
  const { status, digest: known, dead, old, ...reply } = row;
  const open = status === "queued" || status === "running";
  if (old && !open) {
    await database.query("update turns set idempotency_key = null where id = $1", [row.turnId]);
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
    headers: { "Retry-After": "1" },
  });
}
