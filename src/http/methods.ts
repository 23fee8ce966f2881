import type { Hono } from "hono";
import type { AppEnv } from "./environment.ts";

/** Returns the methods of a path, for the `Allow` header of a 405. Call it after mounting all routes. */
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
