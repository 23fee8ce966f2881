import { EngineError } from "../../../core/errors.ts";
import { writeArray } from "../../../db/arrays.ts";
import type { Database } from "../../../db/client.ts";
import { onceSettled, settleTokens } from "../budget/budget.ts";
import { leaseSeconds } from "./open.ts";

/**
 * Lets a waiting turn run when no earlier one of its conversation is alive; the same statement closes earlier turns
 * whose process died. Answers false while it has to wait on, and throws when the turn is no longer this owner's.
 */
export async function promote(database: Database, turnId: string, owner: string): Promise<boolean> {
  const [row] = await database.query<{ mine: boolean; promoted: boolean }>(promoteStatement, [turnId, owner]);
  if (!row?.mine) throw new EngineError("unavailable", "The turn was interrupted");
  return row.promoted;
}

const promoteStatement = `
  with mine as (
    select id, conversation_id, ticket from turns where id = $1 and owner = $2 and status = 'queued'
  ), dead as (
    update turns t set status = 'lost', finished_at = now(), idempotency_key = null from mine
    where t.conversation_id = mine.conversation_id and t.ticket < mine.ticket
      and t.status in ('queued', 'running') and t.lease_until < now()
    returning t.id, t.agent_id, t.budget_month, t.reserved
  ), settled as (
    ${settleTokens("dead", "reserved")}
  ), mended as (
    update conversations c set open_turns = c.open_turns - (select count(*)::int from dead) from mine
    where c.id = mine.conversation_id and exists (select 1 from dead) and ${onceSettled}
  ), promoted as (
    -- Judged by who was really closed: a lease that is renewed at this moment looks expired in this snapshot.
    update turns t set status = 'running', lease_until = now() + interval '${leaseSeconds} seconds' from mine
    where t.id = mine.id and t.status = 'queued' and not t.stop_requested and not exists (
      select 1 from turns earlier
      where earlier.conversation_id = mine.conversation_id and earlier.ticket < mine.ticket
        and earlier.status in ('queued', 'running') and earlier.id not in (select id from dead)
    )
    returning t.id
  )
  select exists (select 1 from mine) as mine, exists (select 1 from promoted) as promoted`;

/** Renews the leases of this process's open turns. Answers those it still holds, and which of them are to stop. */
export async function renew(database: Database, owner: string, turnIds: readonly string[]) {
  const rows = await database.query<{ id: string; stop_requested: boolean }>(
    // In order, as whoever deletes a conversation takes its turns.
    `with held as (
       select id from turns where id = any($2::uuid[]) and owner = $1 and status in ('queued', 'running')
       order by id for no key update
     )
     update turns t set lease_until = now() + interval '${leaseSeconds} seconds' from held where t.id = held.id
     returning t.id, t.stop_requested`,
    [owner, writeArray(turnIds)],
  );
  return new Map(rows.map(({ id, stop_requested }) => [id, { stopRequested: stop_requested }]));
}

/** Closes the turns of dead processes, so that their conversations are free again. Answers how many. */
export async function closeLost(database: Database): Promise<number> {
  const [row] = await database.query<{ lost: number }>(
    `with dead as (
       update turns set status = 'lost', finished_at = now(), idempotency_key = null
       where status in ('queued', 'running') and lease_until < now()
       returning conversation_id, agent_id, budget_month, reserved
     ), settled as (
       ${settleTokens("dead", "reserved")}
     ), mended as (
       update conversations c set open_turns = c.open_turns - d.count
       from (select conversation_id, count(*)::int as count from dead where conversation_id is not null group by 1) d
       where c.id = d.conversation_id and ${onceSettled}
     )
     select count(*)::int as lost from dead`,
    [],
  );
  return row?.lost ?? 0;
}
