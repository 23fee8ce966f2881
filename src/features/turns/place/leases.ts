import { sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import { EngineError } from "../../../core/errors.ts";
import { newId } from "../../../core/ids.ts";
import type { Clock } from "../../../core/ports.ts";
import { Rest } from "../../../core/time/rest.ts";
import type { Database } from "../../../db/client.ts";
import { assign, fields, type RowOf } from "../../../db/fragments.ts";
import { unlessDeadlocked } from "../../../db/retry.ts";
import { conversations, isOpen, turns } from "../../../db/schema.ts";
import { statement } from "../../../db/statement.ts";
import { heldFor, onceSettled, settleTokens } from "../budget/budget.ts";

const leaseSeconds = 30;

/** The end of a lease that begins or is renewed now. */
export const leaseUntil = sql`now() + ${leaseSeconds} * interval '1 second'`;

/** A renewal that takes longer than this, in milliseconds, counts as an outage of the database, as one that fails does. */
const slowRenewalMs = 10_000;

/**
 * The leases of this process's turns, and what the process may say of turns whose leases ran out. Each statement locks
 * several turns, among them some that a deletion of their conversation or a turn's end may lock in another order.
 */
export class Leases {
  /** This process, as the owner of turns. */
  readonly owner = newId();
  readonly #database: Database;
  readonly #clock: Clock;
  /** The turns that live in this process. However old their leases are, it never closes them. */
  readonly #living = new Set<string>();
  /** When the running renewal began; null without one. */
  #renewingSince: number | null = null;
  /** While it lasts, this process closes no turns of other processes. */
  readonly #forbearance: Rest;

  constructor({ database, clock }: { database: Database; clock: Clock }) {
    this.#database = database;
    this.#clock = clock;
    this.#forbearance = new Rest(clock);
  }

  /**
   * Closes no turns of other processes for the time of a lease. A process that starts, or reaches the database again, can't
   * know whether an outage kept other processes from renewing.
   */
  judgeLater(): void {
    this.#forbearance.begin(leaseSeconds * 1000);
  }

  /** Notes that a turn lives in this process, until the returned function is called. */
  hold(turnId: string): () => void {
    this.#living.add(turnId);
    return () => this.#living.delete(turnId);
  }

  /**
   * Renews the leases of these turns. Returns the turns that the process still holds, and which of them are to stop. An
   * outage of the database also kept other processes from renewing, so each of them gets the time of a lease afterwards
   * before this process closes its turns.
   */
  async renew(turnIds: readonly string[]) {
    const began = this.#clock.now();
    this.#renewingSince = began;
    try {
      const rows = await unlessDeadlocked(() => renewStatement.run(this.#database, { owner: this.owner, turnIds }));
      const isSlow = this.#clock.now() - began > slowRenewalMs;
      if (isSlow || this.#forbearance.isEndless) this.judgeLater();
      return new Map(rows.map(({ id, stopRequested }) => [id, { stopRequested }]));
    } catch (error) {
      this.#forbearance.begin(Number.POSITIVE_INFINITY);
      throw error;
    } finally {
      this.#renewingSince = null;
    }
  }

  /**
   * Lets a waiting turn run when no earlier one of its conversation is alive; the same statement closes earlier turns
   * whose process died. Answers false while it has to wait on, and throws when the turn is no longer this process's.
   */
  async promote(turnId: string): Promise<boolean> {
    const [row] = await unlessDeadlocked(() =>
      promoteStatement.run(this.#database, {
        turnId,
        owner: this.owner,
        judges: this.#judges(),
        living: [...this.#living],
      }),
    );
    if (!row?.mine) throw new EngineError("unavailable", "The turn was closed before it began: send the message again");
    return row.promoted;
  }

  /** Closes the turns of dead processes, so that their conversations are free again. Answers how many. */
  closeLost(): Promise<number> {
    return this.#close({ everyone: false });
  }

  /** Closes the open turns of all other processes, where it is certain that they are gone. Answers how many. */
  closeFormer(): Promise<number> {
    return this.#close({ everyone: true });
  }

  async #close({ everyone }: { everyone: boolean }): Promise<number> {
    const [row] = await unlessDeadlocked(() =>
      closeStatement.run(this.#database, {
        everyone,
        judges: everyone || this.#judges(),
        living: [...this.#living],
      }),
    );
    return row?.lost ?? 0;
  }

  #judges(): boolean {
    const hangs = this.#renewingSince !== null && this.#clock.now() - this.#renewingSince > slowRenewalMs;
    return !hangs && this.#forbearance.isOver;
  }
}

const dead = alias(turns, "dead");
/** Whether the lease of an open turn ran out: its process is gone, or out of touch with the database. */
export const isOverdue = sql<boolean>`${isOpen(turns)} and ${turns.leaseUntil} < now()`;
const closed = assign(turns, { status: "lost", finishedAt: sql`now()`, idempotencyKey: null });

/** The columns that `settleTokens` reads. */
const heldFields = sql`${turns.agentId}, ${turns.subject}, ${turns.budgetMonth}, ${turns.reserved}, ${turns.userReserved}`;

const promoteStatement = statement(
  { turnId: "uuid", owner: "uuid", judges: "boolean", living: "uuid[]" },
  ({ turnId, owner, judges, living }) => {
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
      where ${turns.conversationId} = ${mine.conversationId} and ${turns.ticket} < ${mine.ticket} and ${isOverdue}
        and ${judges} and ${turns.id} <> all(${living})
      returning ${turns.id}, ${heldFields}
    ), ${settleTokens(dead, heldFor(dead))}, mended as (
      update ${conversations} set ${assign(conversations, { openTurns })} from ${mine}
      where ${conversations.id} = ${mine.conversationId} and exists (select 1 from ${dead}) and ${onceSettled}
    ), promoted as (
      update ${turns} set ${assign(turns, { status: "running", leaseUntil })} from ${mine}
      where ${turns.id} = ${mine.id} and ${turns.status} = 'queued' and not ${turns.stopRequested} and ${isNext}
      returning 1
    )
    select exists (select 1 from ${mine}) as mine, exists (select 1 from promoted) as promoted`;
  },
);

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

const closeTypes = { living: "uuid[]", judges: "boolean", everyone: "boolean" } as const;

const closeStatement = statement(closeTypes, ({ living, judges, everyone }) => {
  const counted = alias(turns, "counted");
  const openTurns = sql`${conversations.openTurns} - counted.turns`;
  return sql<{ lost: number }>`
    with ${dead} as (
      update ${turns} set ${closed}
      where ${isOpen(turns)} and (${everyone} or ${turns.leaseUntil} < now()) and ${judges} and ${turns.id} <> all(${living})
      returning ${turns.conversationId}, ${heldFields}
    ), ${settleTokens(dead, heldFor(dead))}, mended as (
      update ${conversations} set ${assign(conversations, { openTurns })}
      from (
        select ${dead.conversationId}, count(*)::int as turns from ${dead}
        where ${dead.conversationId} is not null group by 1
      ) ${counted}
      where ${conversations.id} = ${counted.conversationId} and ${onceSettled}
    )
    select count(*)::int as lost from ${dead}`;
});
