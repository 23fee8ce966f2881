import type { Context } from "hono";
import { EngineError } from "../core/errors.ts";
import { jsonExcess } from "../core/json.ts";
import type { AppEnv } from "./environment.ts";

/** Far more than imported files have; each level and each value takes parsing time. */
const limits = { levels: 64, values: 200_000 };

/**
 * Parses a body that may be large, after a check of its form. Throws the 400 for malformed JSON, for too deep nesting,
 * and for too many values.
 */
export async function readLargeJson(c: Context<AppEnv>): Promise<unknown> {
  const text = await c.req.text();
  const excess = jsonExcess(text, limits);
  if (excess !== null) throw new EngineError("bad-request", `The body is refused: it ${excess}`);
  try {
    return JSON.parse(text);
  } catch {
    throw new EngineError("bad-request", "The body is not valid JSON");
  }
}
