import { z } from "@hono/zod-openapi";
import { type SQLWrapper, sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";

/** A whole number in a query, from `min` to `max`. */
export const wholeNumber = (min: number, max: number, message = `must be between ${min} and ${max}`) =>
  z
    .string()
    .regex(/^\d{1,10}$/, "must be a whole number")
    .transform(Number)
    .refine((value) => value >= min && value <= max, message);

/** The largest total. It also stands for all larger ones, so that a query stops counting there. */
export const mostCounted = 10_001;

/** The query of a list with paging (decisions §3). Without the caller's limit, `usual` rows; never more than `most`. */
export const pageQuery = (usual: number, most: number) => ({
  limit: wholeNumber(1, most)
    .optional()
    .openapi({ type: "integer", minimum: 1, maximum: most, description: `${usual} unless given.`, example: usual }),
  offset: wholeNumber(0, 2_147_483_647)
    .optional()
    .openapi({ type: "integer", minimum: 0, description: "How many to skip.", example: 0 }),
});

/** The fields of a page of a list besides its rows. */
export const page = { total: z.int().openapi({ example: 1 }), limit: z.int(), offset: z.int() };

/** `page`, for lists whose rows are counted up to `mostCounted`. */
export const countedPage = {
  ...page,
  total: z.int().openapi({
    description: `Exact below ${mostCounted}, which also stands for any greater number.`,
    example: 1,
  }),
};

/** The most bytes that the rows of a page have together. A larger first row is sent alone. */
const mostPageBytes = 8 * 1024 * 1024;

/** How many rows of these sizes, in bytes, fit on a page, beginning with the first; at least one. */
export function countFitting(sizes: readonly number[], most = mostPageBytes): number {
  let taken = 0;
  let bytes = 0;
  for (const size of sizes) {
    bytes += size;
    if (taken > 0 && bytes > most) break;
    taken += 1;
  }
  return taken;
}

/**
 * The total, for a page with `found` rows. If the page does not show it, counts the rows of `matches`, up to
 * `mostCounted`.
 */
export async function countTotal(
  db: Db,
  found: number,
  page: { limit: number; offset: number },
  matches: { limit(most: number): SQLWrapper },
): Promise<number> {
  return totalOf(found, page) ?? db.$count(sql`${matches.limit(mostCounted)} as matches`);
}

/** The total, if it follows from the number of rows on the page; null when the rows must be counted. */
export function totalOf(found: number, { limit, offset }: { limit: number; offset: number }): number | null {
  const ends = found < limit && (found > 0 || offset === 0);
  return ends ? Math.min(offset + found, mostCounted) : null;
}
