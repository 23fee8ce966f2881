import { Batcher, type BatchWork } from "../core/limits/batcher.ts";
import type { Clock } from "../core/ports.ts";
import type { Database } from "./client.ts";

/** The batches of each database in this process. */
const batchers = new WeakMap<Database, Batcher>();

/**
 * Makes a statement for many items one for an item: background work that runs at the same time shares statements, since
 * a statement for each item would cost the database more than the turns that the work follows (docs/benchmarks-log.md).
 */
export function batched<In, Out>(
  { database, clock }: { database: Database; clock: Clock },
  statement: BatchWork<In, Out>,
): (item: In) => Promise<Out> {
  const batcher = batchers.get(database) ?? new Batcher(clock);
  batchers.set(database, batcher);
  return (item) => batcher.run(statement, item);
}
