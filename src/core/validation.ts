import { z } from "@hono/zod-openapi";

type RawIssue = Parameters<NonNullable<ReturnType<typeof z.config>["customError"]>>[0];

/**
 * The default message of an issue, as the end of a sentence that begins with the field: `slug is required`, `maxSteps
 * must be a whole number`.
 */
function sentenceOf(issue: RawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined ? "is required" : `must be ${named(issue.expected)}`;
    case "invalid_value":
      return oneOf(issue.values);
    case "invalid_union":
      return unionOf(issue);
    case "too_small":
      return `must ${amount("at least", issue.minimum, issue.origin)}`;
    case "too_big":
      return `must ${amount("at most", issue.maximum, issue.origin)}`;
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}`;
    case "invalid_format":
      return `must be ${formats[issue.format] ?? "of another form"}`;
    case "unrecognized_keys":
      return `must not have the fields: ${issue.keys.join(", ")}`;
    case "invalid_key":
      return "must not have a field of that name";
    default:
      return "is not valid";
  }
}

const kinds: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
  null: "null",
};

const formats: Readonly<Record<string, string>> = {
  email: "an e-mail address",
  url: "an address, such as https://example.com",
  uuid: "a UUID",
  datetime: "a time in ISO 8601, such as 2026-01-31T12:00:00Z",
  date: "a date, such as 2026-01-31",
};

const named = (kind: string) => kinds[kind] ?? "of another kind";

function oneOf(values: readonly unknown[]): string {
  return values.length === 1 ? `must be ${values[0]}` : `must be one of: ${values.join(", ")}`;
}

/** The message for a union: the possible values of its discriminating field, or else its members. */
function unionOf({ options, errors }: Extract<RawIssue, { code: "invalid_union" }>): string {
  if (Array.isArray(options)) return oneOf(options);
  const kinds = errors.map(([first]) => /^must be (.*)$/.exec(first?.message ?? "")?.[1]);
  return kinds.length > 0 && kinds.every(Boolean) ? `must be ${[...new Set(kinds)].join(" or ")}` : "is not valid";
}

const units: Readonly<Record<string, string>> = {
  string: "characters",
  array: "entries",
  set: "entries",
  map: "entries",
};

function amount(bound: string, limit: number | bigint, origin: string): string {
  const unit = units[origin];
  return unit ? `have ${bound} ${limit} ${unit}` : `be ${bound} ${limit}`;
}

// The library's default messages can be set only once, for the whole process.
z.config({ customError: sentenceOf });
