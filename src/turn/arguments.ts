import { isObject } from "../core/json.ts";
import { isDeeperThan } from "../core/text/text.ts";
import type { JsonValue } from "./types.ts";

interface Arguments {
  args: JsonValue;
  /** The error for the model when the input is no JSON object. */
  malformed?: string;
}

/** Parses the arguments of a tool call from the model's text. */
export function parseArguments(input: string): Arguments {
  if (input.trim() === "") return { args: {} };
  try {
    const args = JSON.parse(input) as JsonValue;
    // `JSON.stringify` fails on values nested more deeply.
    if (isDeeperThan(args, 200)) return { args: "", malformed: "The arguments are nested too deeply" };
    return isObject(args) ? { args } : { args, malformed: "The arguments are not a JSON object" };
  } catch {
    return { args: input, malformed: "The arguments are not valid JSON" };
  }
}
