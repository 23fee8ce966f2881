import type { MiddlewareHandler } from "hono";
import { EngineError } from "../core/errors.ts";
import type { AppEnv } from "./environment.ts";

/**
 * Matches a `.` or `..` segment of a path, also encoded. A backslash separates segments too (URL Standard, "path
 * state").
 */
const dotSegment = /^[^?#]*[/\\](?:\.|%2e){1,2}(?:[/\\?#]|$)/i;

/**
 * Throws the 400 for a path with dot segments: a proxy may have allowed the path as sent while this server reads
 * another, and a client that put `..` into a path meant a name.
 */
export const requirePlainPath: MiddlewareHandler<AppEnv> = async (c, next) => {
  if (dotSegment.test(c.env?.target ?? "")) {
    throw new EngineError("bad-request", "The path must not have . or .. as a segment");
  }
  await next();
};
