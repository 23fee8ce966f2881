import { type SQL, sql } from "drizzle-orm";

/** Each bucket ends at so many times its begin, so that its middle is at most 5 % away from any time in it. */
const growth = 1.1;

/** The bucket of a time in milliseconds; null for null. Times below one millisecond have the bucket -1. */
export function bucketOf(ms: SQL): SQL {
  return sql`case when ${ms} < 1 then -1 else floor(ln((${ms})::float8) / ln(${growth}::float8)) end::smallint`;
}

/** The middle of a bucket, in milliseconds. */
export function middleOf(bucket: number): number {
  return bucket < 0 ? 0 : Math.round(growth ** (bucket + 0.5));
}

/** How many times are in a bucket. */
export interface Filled {
  bucket: number;
  count: number;
}

/** The time in milliseconds that this share of all times does not exceed (nearest rank); null where there are none. */
export function percentile(buckets: readonly Filled[], share: number): number | null {
  const sorted = [...buckets].sort((a, b) => a.bucket - b.bucket);
  const all = sorted.reduce((sum, { count }) => sum + count, 0);
  let left = Math.max(1, Math.ceil(all * share));
  for (const { bucket, count } of sorted) {
    left -= count;
    if (left <= 0) return middleOf(bucket);
  }
  return null;
}
