import { z } from "@hono/zod-openapi";

/** A whole number in a query, from `min` to `max`. */
export const wholeNumber = (min: number, max: number, message = `must be between ${min} and ${max}`) =>
  z
    .string()
    .regex(/^\d{1,10}$/, "must be a whole number")
    .transform(Number)
    .refine((value) => value >= min && value <= max, message);

/** A total that also stands for any greater one, so that a query counts no further. */
export const mostCounted = 10_001;

/** The total, when the number of rows on a page tells it; null when they have to be counted. */
export function totalOf(found: number, { limit, offset }: { limit: number; offset: number }): number | null {
  const ends = found < limit && (found > 0 || offset === 0);
  return ends ? Math.min(offset + found, mostCounted) : null;
}
