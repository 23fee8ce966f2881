import type { Context } from "hono";
import type { AppEnv } from "../../../http/environment.ts";
import { allowsOrigin, type Reached } from "../../turns/index.ts";

/** The CORS headers, for responses that are built without the Hono context. */
export type Cors = Readonly<Record<string, string>>;

const names = ["Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Vary"] as const;

/**
 * CORS for the chat endpoints, by the agent's own list of origins (decisions §3). Set before the first refusal, so that
 * pages can read refusals too, and again when the attempt is repeated with the changed agent.
 */
export function answerOrigin(c: Context<AppEnv>, agent: Reached | null): Cors {
  const origin = c.req.header("Origin");
  if (origin === undefined) return {};
  const allowed = allowsOrigin(agent, origin);
  const headers: Cors = allowed
    ? {
        "Access-Control-Allow-Origin": origin,
        "Access-Control-Expose-Headers": "X-Request-Id, Retry-After, Idempotent-Replayed",
        Vary: "Origin",
      }
    : {};
  for (const name of names) c.header(name, headers[name]);
  return headers;
}

/** Responds to a preflight. On `/v1` only the request that follows it names the agent, which then checks the origin. */
export function preflight(c: Context<AppEnv>, origin: string | null): Response {
  if (origin === null) return c.body(null, 204);
  return c.body(null, 204, {
    "Access-Control-Allow-Origin": origin,
    "Access-Control-Allow-Methods": "GET, POST, DELETE",
    "Access-Control-Allow-Headers": c.req.header("Access-Control-Request-Headers") ?? "Authorization, Content-Type",
    "Access-Control-Max-Age": "600",
    Vary: "Origin",
  });
}
