/**
 * An expression for what a `jsonb` takes as JSON in UTF-8, in bytes: the database writes a space behind each comma and
 * colon, which are no part of it, and all digits of a number, which are.
 */
export function jsonBytes(value: string): string {
  const text = `(${value})::text`;
  const withoutStrings = `regexp_replace(${text}, '"(\\\\.|[^"\\\\])*"', '', 'g')`;
  return `(octet_length(${text}) - length(${withoutStrings}) + length(replace(${withoutStrings}, ' ', '')))`;
}
