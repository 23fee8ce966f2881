import { Validator } from "@cfworker/json-schema";
import { isCheap } from "./arguments-cost.ts";

type Schema = Readonly<Record<string, unknown>>;

/**
 * A check of a call's arguments by what a server says of them. It throws an `Error` that says what is wrong; where the
 * schema is broken, or the check would take too long, everything passes: the server has the last word anyway.
 */
export function argumentCheck(schema: Schema): (args: unknown) => unknown {
  let checked: { part: unknown; validator: Validator } | null | undefined;
  return (args) => {
    if (typeof args !== "object" || args === null || Array.isArray(args)) {
      throw new Error("The arguments are not valid: they must be an object");
    }
    checked ??= makeValidator(schema);
    const problem = checked && isCheap(checked.part, args) ? problemOf(checked.validator, args) : null;
    if (problem !== null) throw new Error(`The arguments are not valid: ${problem}`);
    return args;
  };
}

function makeValidator(schema: Schema): { part: unknown; validator: Validator } | null {
  try {
    const part = checkable(schema) as Schema;
    return { part, validator: new Validator(part, "2020-12", true) };
  } catch {
    return null;
  }
}

function problemOf(validator: Validator, args: object): string | null {
  try {
    const { valid, errors } = validator.validate(args);
    if (valid) return null;
    // The deepest one says what; those around it, that something is wrong inside.
    const last = errors.at(-1);
    return last
      ? `${last.instanceLocation.replace(/^#\/?/, "") || "they"}: ${last.error}`
      : "they do not match the schema";
  } catch {
    return null;
  }
}

type Check = (value: unknown) => boolean;
const isNumber: Check = (value) => typeof value === "number";
const isTexts: Check = (value) => Array.isArray(value) && value.every((item) => typeof item === "string");

const plainKeywords: Readonly<Record<string, Check>> = {
  type: (value) => typeof value === "string" || isTexts(value),
  enum: Array.isArray,
  const: () => true,
  required: isTexts,
  ...Object.fromEntries(
    [
      ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
      ...["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"],
    ].map((keyword) => [keyword, isNumber]),
  ),
};

/**
 * The part of a schema that can be checked in a time that grows with its length and that of the arguments, and that
 * never refuses what the whole would allow. Left out are patterns, whose time is whatever their author likes, references,
 * which can multiply without end, and what turns the sense of those around.
 */
function checkable(schema: unknown): unknown {
  if (typeof schema === "boolean") return schema;
  if (!isObject(schema)) return true;
  const entries: [string, unknown][] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    if (Object.hasOwn(plainKeywords, keyword)) {
      if (plainKeywords[keyword]?.(value)) entries.push([keyword, value]);
    } else if (keyword === "properties" && isObject(value)) {
      entries.push([
        keyword,
        Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, checkable(inner)])),
      ]);
    } else if (keyword === "items" && !Array.isArray(value)) {
      if (!("prefixItems" in schema)) entries.push([keyword, checkable(value)]);
    } else if (keyword === "additionalProperties") {
      if (!("patternProperties" in schema)) entries.push([keyword, checkable(value)]);
    } else if (keyword === "allOf" && Array.isArray(value)) {
      entries.push([keyword, value.map(checkable)]);
    } else if ((keyword === "anyOf" || keyword === "oneOf") && Array.isArray(value)) {
      // One of several may not be told from another without what is left out.
      entries.push(["anyOf", value.map(checkable)]);
    }
  }
  return Object.fromEntries(entries);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
