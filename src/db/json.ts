/**
 * A condition: a `jsonb` takes at most so many bytes as JSON in UTF-8. The database writes a space behind each comma and
 * colon, which are no part of it, and all digits of a number, which are. Looking for the spaces takes its time, and is
 * only done where they matter.
 */
export function jsonFits(value: string, limit: string | number): string {
  const text = `(${value})::text`;
  const withoutStrings = `regexp_replace(${text}, '"(\\\\.|[^"\\\\])*"', '', 'g')`;
  const spaces = `(select length(bare) - length(replace(bare, ' ', '')) from (select ${withoutStrings} as bare) b)`;
  return `(octet_length(${text}) <= ${limit} or octet_length(${text}) - ${spaces} <= ${limit})`;
}
