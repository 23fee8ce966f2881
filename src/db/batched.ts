import { Batcher, type BatchWork } from "../core/limits/batcher.ts";
import type { Clock } from "../core/ports.ts";
import type { Database } from "./client.ts";

/** The batches of each database in this process. */
const batchers = new WeakMap<Database, Batcher>();

/**
 * Does one statement for many items: background work that runs at the same time shares statements. A statement for each
 * item would cost the database more than the turns before it (docs/benchmarks-log.md).
 */
export function batched<In, Out>(
  { database, clock }: { database: Database; clock: Clock },
  statement: BatchWork<In, Out>,
): (item: In) => Promise<Out> {
  const batcher = batchers.get(database) ?? new Batcher(clock);
  batchers.set(database, batcher);
  return (item) => batcher.run(statement, item);
}
