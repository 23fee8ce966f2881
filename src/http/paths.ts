import type { Hono, MiddlewareHandler } from "hono";
import { EngineError } from "../core/errors.ts";
import type { AppEnv } from "./environment.ts";

/** The 404 of a path that leads nowhere. */
export const noRoute = (path: string) => new EngineError("not-found", `No such route: ${path}`);

/**
 * The path without the public id of a conversation, which may be somebody's phone number: logs outlive the person's
 * data.
 */
export const withoutPerson = (path: string) => path.replace(/^(\/api\/conversations\/)[^/]+/i, "$1…");

/** Returns the methods of a path, for the `Allow` header of a 405. Call it when all routes are mounted. */
export function allowedMethods(app: Hono<AppEnv>): (path: string) => string[] {
  const byPath = new Map<string, Set<string>>();
  for (const { method, path } of app.routes) {
    if (method === "ALL") continue;
    const methods = byPath.get(path) ?? new Set<string>();
    byPath.set(path, methods.add(method));
  }
  const patterns = [...byPath].map(([path, methods]) => ({ pattern: toPattern(path), methods }));

  return (path) => {
    const allowed = new Set<string>();
    for (const { pattern, methods } of patterns) {
      if (pattern.test(path)) for (const method of methods) allowed.add(method);
    }
    if (allowed.has("GET")) allowed.add("HEAD");
    return [...allowed].sort();
  };
}

function toPattern(path: string): RegExp {
  const source = path
    .split("/")
    .map((segment) => (segment.startsWith(":") ? "[^/]+" : segment.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")))
    .join("/");
  return new RegExp(`^${source}$`);
}

/**
 * Matches a `.` or `..` segment of a path, encoded or not. Backslashes separate segments too (URL Standard, "path
 * state").
 */
const dotSegment = /^[^?#]*[/\\](?:\.|%2e){1,2}(?:[/\\?#]|$)/i;

/**
 * Throws the 400 for a path with dot segments: a proxy may have allowed the path as it was sent, while this server
 * reads another one; and a client that put `..` into a path meant it as a name.
 */
export const requirePlainPath: MiddlewareHandler<AppEnv> = async (c, next) => {
  if (dotSegment.test(c.env?.target ?? "")) {
    throw new EngineError("bad-request", "The path must not have . or .. as a segment");
  }
  await next();
};
