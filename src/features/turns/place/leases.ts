import { sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import { EngineError } from "../../../core/errors.ts";
import type { Database } from "../../../db/client.ts";
import { assign, fields, type RowOf } from "../../../db/fragments.ts";
import { conversations, isOpen, turns } from "../../../db/schema.ts";
import { statement } from "../../../db/statement.ts";
import { onceSettled, settleTokens } from "../budget/budget.ts";

const leaseSeconds = 30;

/** The end of a lease that begins or is renewed now. */
export const leaseUntil = sql`now() + ${leaseSeconds} * interval '1 second'`;

/**
 * Lets a waiting turn run when no earlier one of its conversation is alive; the same statement closes earlier turns
 * whose process died. Answers false while it has to wait on, and throws when the turn is no longer this owner's.
 */
export async function promote(database: Database, turnId: string, owner: string): Promise<boolean> {
  const [row] = await promoteStatement.run(database, { turnId, owner });
  if (!row?.mine) throw new EngineError("unavailable", "The turn was interrupted");
  return row.promoted;
}

const dead = alias(turns, "dead");
/** Whether the process of an open turn died. */
export const isDead = sql<boolean>`${isOpen(turns)} and ${turns.leaseUntil} < now()`;
const closed = assign(turns, { status: "lost", finishedAt: sql`now()`, idempotencyKey: null });

const promoteStatement = statement({ turnId: "uuid", owner: "uuid" }, ({ turnId, owner }) => {
  const [mine, earlier] = [alias(turns, "mine"), alias(turns, "earlier")];
  const openTurns = sql`${conversations.openTurns} - (select count(*)::int from ${dead})`;
  // Judged by the turns that were really closed: a lease that is renewed at this moment looks expired in this snapshot.
  const isNext = sql`not exists (
    select 1 from ${turns} ${earlier}
    where ${earlier.conversationId} = ${mine.conversationId} and ${earlier.ticket} < ${mine.ticket}
      and ${isOpen(earlier)} and ${earlier.id} not in (select ${dead.id} from ${dead})
  )`;
  return sql<{ mine: boolean; promoted: boolean }>`
    with ${mine} as (
      select ${turns.id}, ${turns.conversationId}, ${turns.ticket} from ${turns}
      where ${turns.id} = ${turnId} and ${turns.owner} = ${owner} and ${turns.status} = 'queued'
    ), ${dead} as (
      update ${turns} set ${closed} from ${mine}
      where ${turns.conversationId} = ${mine.conversationId} and ${turns.ticket} < ${mine.ticket} and ${isDead}
      returning ${turns.id}, ${turns.agentId}, ${turns.budgetMonth}, ${turns.reserved}
    ), settled as (
      ${settleTokens(dead, dead.reserved)}
    ), mended as (
      update ${conversations} set ${assign(conversations, { openTurns })} from ${mine}
      where ${conversations.id} = ${mine.conversationId} and exists (select 1 from ${dead}) and ${onceSettled}
    ), promoted as (
      update ${turns} set ${assign(turns, { status: "running", leaseUntil })} from ${mine}
      where ${turns.id} = ${mine.id} and ${turns.status} = 'queued' and not ${turns.stopRequested} and ${isNext}
      returning 1
    )
    select exists (select 1 from ${mine}) as mine, exists (select 1 from promoted) as promoted`;
});

/** Renews the leases of this process's open turns. Answers the turns that the process still holds, and which are to stop. */
export async function renew(database: Database, owner: string, turnIds: readonly string[]) {
  const rows = await renewStatement.run(database, { owner, turnIds });
  return new Map(rows.map(({ id, stopRequested }) => [id, { stopRequested }]));
}

const renewStatement = statement({ owner: "uuid", turnIds: "uuid[]" }, ({ owner, turnIds }) => {
  const held = alias(turns, "held");
  const row = fields({ id: turns.id, stopRequested: turns.stopRequested });
  // In order, as the deletion of a conversation takes its turns.
  return sql<RowOf<typeof row>>`
    with ${held} as (
      select ${turns.id} from ${turns}
      where ${turns.id} = any(${turnIds}) and ${turns.owner} = ${owner} and ${isOpen(turns)}
      order by ${turns.id} for no key update
    )
    update ${turns} set ${assign(turns, { leaseUntil })} from ${held} where ${turns.id} = ${held.id} returning ${row}`;
});

/** Closes the turns of dead processes, so that their conversations are free again. Answers how many. */
export async function closeLost(database: Database): Promise<number> {
  const [row] = await closeStatement.run(database, {});
  return row?.lost ?? 0;
}

const closeStatement = statement({}, () => {
  const counted = alias(turns, "counted");
  const openTurns = sql`${conversations.openTurns} - counted.turns`;
  return sql<{ lost: number }>`
    with ${dead} as (
      update ${turns} set ${closed} where ${isDead}
      returning ${turns.conversationId}, ${turns.agentId}, ${turns.budgetMonth}, ${turns.reserved}
    ), settled as (
      ${settleTokens(dead, dead.reserved)}
    ), mended as (
      update ${conversations} set ${assign(conversations, { openTurns })}
      from (
        select ${dead.conversationId}, count(*)::int as turns from ${dead}
        where ${dead.conversationId} is not null group by 1
      ) ${counted}
      where ${conversations.id} = ${counted.conversationId} and ${onceSettled}
    )
    select count(*)::int as lost from ${dead}`;
});
