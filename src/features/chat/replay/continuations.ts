import { sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import { asEngineError } from "../../../core/errors.ts";
import type { Database } from "../../../db/client.ts";
import { fields, orNull, type RowOf } from "../../../db/fragments.ts";
import { turns } from "../../../db/schema.ts";
import { statement } from "../../../db/statement.ts";
import type { StartedTurn, TurnObserver } from "../../../turn/observers.ts";

/** The most streams of this process that wait for an approval. A further one ends, and can be resumed. */
const waitingLimit = 1000;

/** The most streams that wait for one turn and client. A further one ends the oldest, whose client has probably left. */
const clientLimit = 8;

interface Waiter {
  client: string;
  settle(next: string | null): void;
}

/** The streams that wait for an approval, to go on with the turn that continues theirs. */
export class Continuations implements TurnObserver {
  readonly #database: Database;
  readonly #waiting = new Map<string, Set<Waiter>>();
  #count = 0;
  #stopped = false;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Resolves to the turn, of any replica, that continues this one. Resolves to null when none will: the turn did not
   * wait for approval, or was refused, or expired. Also null when `signal` aborts, at a stop, and above the limits.
   */
  async next(turnId: string, client: string, signal: AbortSignal): Promise<string | null> {
    if (this.#stopped || signal.aborted || this.#count >= waitingLimit) return null;
    const { promise, resolve } = Promise.withResolvers<string | null>();
    const waiter = { client, settle: resolve };
    const waiting = this.#waiting.get(turnId) ?? new Set();
    this.#waiting.set(turnId, waiting.add(waiter));
    endOldest(waiting, client);
    this.#count += 1;
    const leave = () => resolve(null);
    signal.addEventListener("abort", leave, { once: true });
    try {
      await this.#look([turnId]).catch((error: unknown) => {
        // Not fatal: the next check comes within two seconds.
        if (asEngineError(error).code !== "unavailable") throw error;
      });
      return await promise;
    } finally {
      signal.removeEventListener("abort", leave);
      this.#count -= 1;
      waiting.delete(waiter);
      if (waiting.size === 0 && this.#waiting.get(turnId) === waiting) this.#waiting.delete(turnId);
    }
  }

  /** A turn of this process needs no check. */
  started({ id, continues }: StartedTurn): null {
    if (continues !== null) this.#settle(continues, id);
    return null;
  }

  /**
   * Looks for turns of other replicas, and for those that will not be continued. Call it every 2 seconds; sends no
   * statement while nobody waits.
   */
  async look(): Promise<void> {
    if (this.#waiting.size > 0) await this.#look([...this.#waiting.keys()]);
  }

  /** Ends all waiting. */
  stop(): void {
    this.#stopped = true;
    for (const id of [...this.#waiting.keys()]) this.#settle(id, null);
  }

  async #look(ids: string[]): Promise<void> {
    const rows = new Map((await lookStatement.run(this.#database, { ids })).map((row) => [row.id, row]));
    for (const id of ids) {
      const row = rows.get(id);
      if (row?.next) this.#settle(id, row.next);
      else if (!row?.waits) this.#settle(id, null);
    }
  }

  #settle(turnId: string, next: string | null): void {
    for (const { settle } of this.#waiting.get(turnId) ?? []) settle(next);
  }
}

/** Ends the oldest stream of a client that has more than `clientLimit` for the turn. */
function endOldest(waiting: Set<Waiter>, client: string): void {
  const own = [...waiting].filter((waiter) => waiter.client === client);
  const [oldest] = own;
  if (!oldest || own.length <= clientLimit) return;
  waiting.delete(oldest);
  oldest.settle(null);
}

const lookStatement = statement({ ids: "uuid[]" }, ({ ids }) => {
  const next = alias(turns, "next");
  const waits = sql<boolean>`${turns.status} = 'approval' and ${turns.conversationId} is not null`;
  const row = fields({ id: turns.id, waits, next: orNull(next.id) });
  return sql<RowOf<typeof row>>`
    select ${row} from ${turns} left join ${turns} ${next} on ${next.continues} = ${turns.id}
    where ${turns.id} = any(${ids})`;
});
