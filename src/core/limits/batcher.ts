import { EngineError } from "../errors.ts";
import type { Clock } from "../ports.ts";

/**
 * Does the same work for many items at once. Resolves with the results in the order of the items, or with none where there
 * is nothing to answer. Where it rejects for many items, each is tried by itself, so that an item fails alone.
 */
export type BatchWork<In, Out> = (items: readonly In[]) => Promise<readonly Out[]>;

/**
 * The sizes of a batch: the least, first and largest number of items. A turn may have to wait for the end of a batch, so
 * after one that took longer than `longMs` the next has half as many items, and after one that took less than `shortMs`
 * twice as many, in milliseconds. Fewer than the least would save nothing where the database is far away.
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
 * Runs one batch at a time, of whatever work, so that the background keeps the database busy with one statement at most.
 * Items that come meanwhile are the next batches; kinds of work take turns.
 */
export class Batcher {
  readonly #clock: Clock;
  readonly #waiting = new Map<Work, Member[]>();
  /** The number of items that a batch takes. */
  readonly #sizes = new WeakMap<Work, number>();
  #busy = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Does the work for one item, in a batch with the items of other callers, and answers the item's own result. */
  run<In, Out>(batchWork: BatchWork<In, Out>, item: In): Promise<Out> {
    const work = batchWork as Work;
    return new Promise((resolve, reject) => {
      const member: Member = { item, resolve: resolve as Member["resolve"], reject };
      const members = this.#waiting.get(work);
      if (members) members.push(member);
      else this.#waiting.set(work, [member]);
      // Items that come in this moment join the batch.
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

/** How many items a batch takes after one that took `items`, at most `most`, and so many milliseconds. */
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
    // No single item is the cause of an outage.
    if (members.length === 1 || error instanceof EngineError) for (const { reject } of members) reject(error);
    else for (const member of members) await runBatch(work, [member]);
  }
}
