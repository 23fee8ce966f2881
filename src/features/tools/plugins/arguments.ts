import { Validator } from "@cfworker/json-schema";
import { isObject } from "../../../core/json.ts";

type Schema = Readonly<Record<string, unknown>>;

interface Prepared {
  size: number;
  validator: Validator;
}

/**
 * Returns a check of a call's arguments against a server's schema, which throws an `Error` with the problem. Nothing is
 * checked when the schema is broken or the check would block the event loop: the server checks arguments anyway.
 */
export function argumentCheck(schema: Schema): (args: unknown) => unknown {
  let prepared: Prepared | null | undefined;
  return (args) => {
    if (!isObject(args)) {
      throw new Error("The arguments are not valid: they must be an object");
    }
    if (prepared === undefined) prepared = prepare(schema);
    const problem = prepared && problemOf(prepared, args);
    if (problem !== null) throw new Error(`The arguments are not valid: ${problem}`);
    return args;
  };
}

function prepare(schema: Schema): Prepared | null {
  try {
    const part = checkable(schema) as Schema;
    return { size: sizeOf(part), validator: new Validator(part, "2020-12", true) };
  } catch {
    return null;
  }
}

/** The limit of the schema's size times the arguments' size, so that a check takes less than 0.1 s of processor time. */
const mostWork = 20_000;

const charactersPerUnit = 100;

/**
 * How many values a JSON value contains, including itself; 100 characters of texts and names count as one more. A
 * checkable schema has no references, so each part of it meets each value at most once: the product of both sizes
 * limits the check.
 */
function sizeOf(value: unknown): number {
  if (typeof value === "string") return 1 + value.length / charactersPerUnit;
  if (typeof value !== "object" || value === null) return 1;
  return Object.entries(value).reduce((sum, [name, inner]) => sum + name.length / charactersPerUnit + sizeOf(inner), 1);
}

function problemOf({ size, validator }: Prepared, args: object): string | null {
  try {
    if (size * sizeOf(args) > mostWork) return null;
    const { valid, errors } = validator.validate(args);
    if (valid) return null;
    // The last error is the innermost one and names the cause. The others only say that something inside is wrong.
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
 * The part of a schema whose check takes limited time. It refuses nothing that the whole schema allows. Left out are
 * patterns, whose time has no limit; references, which can repeat each other without end; and `not`, `if` and the like,
 * which would refuse more once a part inside them is left out.
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
      // Several of `oneOf` may match when parts of them are left out.
      entries.push(["anyOf", value.map(checkable)]);
    }
  }
  return Object.fromEntries(entries);
}
