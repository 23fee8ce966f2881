import { type SQL, sql } from "drizzle-orm";

/**
 * A condition in SQL: a `jsonb` has at most `limit` bytes as JSON in UTF-8. PostgreSQL writes a space behind each comma
 * and colon, which do not count, and all digits of a number, which count. Finding the spaces is slow, and done only
 * where they decide.
 */
export function jsonFits(value: SQL, limit: number): SQL {
  const text = sql`(${value})::text`;
  const withoutStrings = sql`regexp_replace(${text}, '"(\\\\.|[^"\\\\])*"', '', 'g')`;
  const spaces = sql`(select length(bare) - length(replace(bare, ' ', '')) from (select ${withoutStrings} as bare) b)`;
  return sql`(octet_length(${text}) <= ${limit} or octet_length(${text}) - ${spaces} <= ${limit})`;
}
