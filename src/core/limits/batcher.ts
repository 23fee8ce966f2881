import { EngineError } from "../errors.ts";
import type { Clock } from "../ports.ts";

/**
 * Does the same work for many items at once. Resolves with one result for each item, in order, or with an empty list
 * when there are no results. If it rejects for several items, each item is tried alone.
 */
export type BatchWork<In, Out> = (items: readonly In[]) => Promise<readonly Out[]>;

/**
 * The smallest, first and largest number of items in a batch. A turn may have to wait for the end of a batch: after a
 * batch of more than `longMs` milliseconds the next one has half as many items, after one of less than `shortMs` twice
 * as many. A smaller batch would save nothing where the database is far away.
 */
const [leastItems, firstItems, mostItems] = [8, 16, 32];
const [shortMs, longMs] = [100, 200];

interface Member {
  item: unknown;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

type Work = BatchWork<unknown, unknown>;

/**
 * Runs one batch at a time, whatever its work, so that the background sends the database at most one statement at a
 * time. Items that arrive meanwhile go into the next batches. Kinds of work take turns.
 */
export class Batcher {
  readonly #clock: Clock;
  readonly #waiting = new Map<Work, Member[]>();
  /** The number of items in the next batch, by work. */
  readonly #sizes = new WeakMap<Work, number>();
  #busy = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Does the work for one item, in a batch with items of other callers. Resolves with this item's result. */
  run<In, Out>(batchWork: BatchWork<In, Out>, item: In): Promise<Out> {
    const work = batchWork as Work;
    return new Promise((resolve, reject) => {
      const member: Member = { item, resolve: resolve as Member["resolve"], reject };
      const members = this.#waiting.get(work);
      if (members) members.push(member);
      else this.#waiting.set(work, [member]);
      // Items that arrive in the same moment join the batch.
      queueMicrotask(() => this.#next());
    });
  }

  #next(): void {
    const [first] = this.#waiting;
    if (this.#busy || !first) return;
    const [work, waiting] = first;
    const most = this.#sizes.get(work) ?? firstItems;
    const members = waiting.splice(0, most);
    this.#waiting.delete(work);
    if (waiting.length > 0) this.#waiting.set(work, waiting);
    this.#busy = true;
    const startedAt = this.#clock.now();
    void runBatch(work, members).finally(() => {
      this.#sizes.set(work, sizeAfter(most, members.length, this.#clock.now() - startedAt));
      this.#busy = false;
      this.#next();
    });
  }
}

/** The size of the next batch, at most `most`, after a batch of `items` that took `ms` milliseconds. */
function sizeAfter(most: number, items: number, ms: number): number {
  if (ms > longMs) return Math.max(leastItems, Math.floor(items / 2));
  return ms < shortMs && items === most ? Math.min(mostItems, most * 2) : most;
}

async function runBatch(work: Work, members: readonly Member[]): Promise<void> {
  try {
    const results = await work(members.map(({ item }) => item));
    members.forEach(({ resolve }, index) => {
      resolve(results[index]);
    });
  } catch (error) {
    // The database was away: no single item caused it, so items are not tried alone.
    if (members.length === 1 || error instanceof EngineError) for (const { reject } of members) reject(error);
    else for (const member of members) await runBatch(work, [member]);
  }
}
