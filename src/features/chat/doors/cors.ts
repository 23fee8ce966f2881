import type { Context } from "hono";
import type { AppEnv } from "../../../http/environment.ts";
import { allowsOrigin, type LiveAgent } from "../../turns/index.ts";

/** The headers by which a page may read a response that is made from scratch. */
export type Cors = Readonly<Record<string, string>>;

const names = ["Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Vary"] as const;

/**
 * CORS for the chat doors, by the agent's own list of origins (decisions §3). Set before anything is refused, so that a
 * page can read the refusal too, and set anew when the agent changed meanwhile.
 */
export function answerOrigin(c: Context<AppEnv>, agent: LiveAgent | null): Cors {
  const origin = c.req.header("Origin");
  const allowed = origin !== undefined && allowsOrigin(agent, origin);
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

/** Answers a preflight. The request that follows is what is checked: only that request knows the agent on `/v1`. */
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
