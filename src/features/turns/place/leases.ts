import { type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Services } from "../../../context/ctx.ts";
import { EngineError } from "../../../core/errors.ts";
import { Rounds } from "../../../core/limits/rounds.ts";
import type { Clock } from "../../../core/ports.ts";
import type { Database } from "../../../db/client.ts";
import { assign, fields, type RowOf } from "../../../db/fragments.ts";
import { unlessDeadlocked } from "../../../db/retry.ts";
import { agents, conversations, isOpen, turns } from "../../../db/schema.ts";
import { statement } from "../../../db/statement.ts";
import { type Heartbeat, hasLapsed, leaseMs, leaseUntil } from "../../../jobs/heartbeat.ts";
import { heldColumns, heldFor, nothingUsed, onceSettled, settleTurns, type Used } from "../budget/settle.ts";

/** The most orphans that are remembered; the lease of an earlier one runs out. */
const mostOrphans = 10_000;

/** The most orphans of one statement. */
const mostAtOnce = 1_000;

/**
 * The leases of this process's turns, and the closing of turns whose leases ran out. Statements are repeated after a
 * deadlock: each locks several turns, which a deletion or a turn's end may lock in another order.
 */
export class Leases {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #heartbeat: Heartbeat;
  /** The turns that run in this process, which never closes them, even when their leases expired. */
  readonly #living = new Set<string>();
  /** The turns that this process may have opened without knowing it, with the times at which their leases have ended. */
  readonly #orphans = new Map<string, number>();
  /** In an outage all openings fail: their statements are not repeated for each of them. */
  readonly #closing = new Rounds(() => this.#closeAllOrphans());
  /** Counts turns that this process closed. */
  readonly #count: (labels: { cause: "lease" | "answer" }, by: number) => void;

  constructor({ database, clock, meters }: Pick<Services, "database" | "clock" | "meters">, heartbeat: Heartbeat) {
    this.#database = database;
    this.#clock = clock;
    this.#heartbeat = heartbeat;
    this.#count = meters.counter({
      name: "agent_engine_turns_lost_total",
      help: "Turns that this process closed: their leases ran out, or the database's answer to their opening was lost.",
      labels: ["cause"],
    });
  }

  /** The id of this process as an owner of turns. */
  get owner(): string {
    return this.#heartbeat.owner;
  }

  /** Notes that a turn runs in this process, until the returned function is called. */
  hold(turnId: string): () => void {
    this.#living.add(turnId);
    return () => this.#living.delete(turnId);
  }

  /** Notes that the database's answer to a turn's opening was lost, so that the turn may be open without a process. */
  orphan(turnId: string): void {
    this.#orphans.set(turnId, this.#clock.now() + leaseMs);
    const [oldest = ""] = this.#orphans.keys();
    if (this.#orphans.size > mostOrphans) this.#orphans.delete(oldest);
  }

  isOrphan(turnId: string): boolean {
    return this.#orphans.has(turnId);
  }

  /**
   * Closes the orphans of this process. Call it at once and with each renewal, since the database may be away, and may
   * open an orphan after the first attempt. No statement while there are none.
   */
  closeOrphans(): Promise<void> {
    return this.#closing.run();
  }

  async #closeAllOrphans(): Promise<void> {
    const began = this.#clock.now();
    const ids = [...this.#orphans.keys()];
    for (let start = 0; start < ids.length; start += mostAtOnce) {
      const orphans = ids.slice(start, start + mostAtOnce);
      const [row] = await unlessDeadlocked(() => closeOrphansStatement.run(this.#database, { orphans }));
      this.#count({ cause: "answer" }, row?.lost ?? 0);
      // Nothing opens one any more whose lease would have ended.
      for (const id of orphans) if ((this.#orphans.get(id) ?? 0) < began) this.#orphans.delete(id);
    }
  }

  /** Renews the leases of these turns. Returns those that the process still holds, and which of them should stop. */
  async renew(turnIds: readonly string[]) {
    if (turnIds.length === 0) return new Map<string, never>();
    const rows = await renewStatement.run(this.#database, { owner: this.owner, turnIds });
    return new Map(rows.map(({ id, stopRequested }) => [id, { stopRequested }]));
  }

  /**
   * Lets a queued turn run when no earlier one of its conversation is alive; the same statement closes earlier turns of
   * dead processes. Returns null while it has to wait, else the current revision of its agent. Throws when this process
   * no longer holds the turn.
   */
  async promote(turnId: string): Promise<number | null> {
    const [row] = await unlessDeadlocked(() =>
      promoteStatement.run(this.#database, {
        turnId,
        owner: this.owner,
        takesOver: this.#heartbeat.mayTakeOver,
        living: [...this.#living],
      }),
    );
    this.#count({ cause: "lease" }, row?.lost ?? 0);
    if (!row?.mine) throw new EngineError("unavailable", "The turn was closed before it began: send the message again");
    return row.revision;
  }

  /** Closes the turns of dead processes, which frees their conversations. Returns their number. */
  async closeLost(): Promise<number> {
    if (!this.#heartbeat.mayTakeOver) return 0;
    const [row] = await unlessDeadlocked(() => closeLostStatement.run(this.#database, { living: [...this.#living] }));
    const lost = row?.lost ?? 0;
    this.#count({ cause: "lease" }, lost);
    return lost;
  }
}

const dead = alias(turns, "dead");
/** Whether the lease of an open turn ran out. */
export const isOverdue = sql<boolean>`${isOpen(turns)} and ${hasLapsed(turns.leaseUntil)}`;
const closed = assign(turns, { status: "lost", finishedAt: sql`now()`, idempotencyKey: null });

const promoteStatement = statement(
  { turnId: "uuid", owner: "uuid", takesOver: "boolean", living: "uuid[]" },
  ({ turnId, owner, takesOver, living }) => {
    const [mine, earlier] = [alias(turns, "mine"), alias(turns, "earlier")];
    const openTurns = sql`${conversations.openTurns} - (select count(*)::int from ${dead})`;
    // Uses the turns that were really closed: in this snapshot, a lease that is just being renewed looks expired.
    const isNext = sql`not exists (
    select 1 from ${turns} ${earlier}
    where ${earlier.conversationId} = ${mine.conversationId} and ${earlier.ticket} < ${mine.ticket}
      and ${isOpen(earlier)} and ${earlier.id} not in (select ${dead.id} from ${dead})
  )`;
    return sql<{ mine: boolean; revision: number | null; lost: number }>`
    with ${mine} as (
      select ${turns.id}, ${turns.conversationId}, ${turns.ticket}, ${turns.agentId} from ${turns}
      where ${turns.id} = ${turnId} and ${turns.owner} = ${owner} and ${turns.status} = 'queued'
    ), ${dead} as (
      update ${turns} set ${closed} from ${mine}
      where ${turns.conversationId} = ${mine.conversationId} and ${turns.ticket} < ${mine.ticket} and ${isOverdue}
        and ${takesOver} and ${turns.id} <> all(${living})
      returning ${turns.id}, ${heldColumns}
    ), ${settleTurns(dead, heldFor(dead))}, mended as (
      update ${conversations} set ${assign(conversations, { openTurns })} from ${mine}
      where ${conversations.id} = ${mine.conversationId} and exists (select 1 from ${dead}) and ${onceSettled}
    ), promoted as (
      update ${turns} set ${assign(turns, { status: "running", leaseUntil })} from ${mine}
      where ${turns.id} = ${mine.id} and ${turns.status} = 'queued' and not ${turns.stopRequested} and ${isNext}
      returning ${mine.agentId}
    )
    select exists (select 1 from ${mine}) as mine,
      (select ${agents.revision} from ${agents}, promoted where ${agents.id} = promoted.agent_id) as revision,
      (select count(*)::int from ${dead}) as lost`;
  },
);

const renewStatement = statement({ owner: "uuid", turnIds: "uuid[]" }, ({ owner, turnIds }) => {
  const held = alias(turns, "held");
  const row = fields({ id: turns.id, stopRequested: turns.stopRequested });
  // In the same order in which the deletion of a conversation locks its turns.
  return sql<RowOf<typeof row>>`
    with ${held} as (
      select ${turns.id} from ${turns}
      where ${turns.id} = any(${turnIds}) and ${turns.owner} = ${owner} and ${isOpen(turns)}
      order by ${turns.id} for no key update
    )
    update ${turns} set ${assign(turns, { leaseUntil })} from ${held} where ${turns.id} = ${held.id} returning ${row}`;
});

const closeLostStatement = statement({ living: "uuid[]" }, ({ living }) =>
  closing(sql`${isOverdue} and ${turns.id} <> all(${living})`, heldFor(dead)),
);

/** An orphan never ran, so it took no tokens. */
const closeOrphansStatement = statement({ orphans: "uuid[]" }, ({ orphans }) =>
  closing(sql`${turns.id} = any(${orphans}) and ${isOpen(turns)}`, nothingUsed),
);

/** Closes the turns that `which` selects, and charges `used` for each of them. */
function closing(which: SQL, used: Used) {
  const counted = alias(turns, "counted");
  const openTurns = sql`${conversations.openTurns} - counted.turns`;
  return sql<{ lost: number }>`
    with ${dead} as (
      update ${turns} set ${closed} where ${which}
      returning ${turns.conversationId}, ${heldColumns}
    ), ${settleTurns(dead, used)}, mended as (
      update ${conversations} set ${assign(conversations, { openTurns })}
      from (
        select ${dead.conversationId}, count(*)::int as turns from ${dead}
        where ${dead.conversationId} is not null group by 1
      ) ${counted}
      where ${conversations.id} = ${counted.conversationId} and ${onceSettled}
    )
    select count(*)::int as lost from ${dead}`;
}
