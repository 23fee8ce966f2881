import type { Context, MiddlewareHandler } from "hono";
import { matchedRoutes } from "hono/route";
import type { Services } from "../context/ctx.ts";
import { newId } from "../core/ids.ts";
import { Overloaded } from "../core/limits/admission.ts";
import { LocalThrottle } from "../core/limits/local-throttle.ts";
import { clip } from "../core/text/text.ts";
import { strangersBodies } from "./body.ts";
import { clientAddress } from "./callers/address.ts";
import type { AppEnv } from "./environment.ts";
import { probePaths } from "./opening.ts";
import { withoutPerson } from "./paths.ts";

/** Headers of every response; a page adds its own content security policy. */
const securityHeaders = {
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "X-Frame-Options": "DENY",
};

/**
 * Gives the request an id, finds out its client's address, and logs one line after the response. Must be the first
 * middleware.
 */
export function describeRequest(services: Services): MiddlewareHandler<AppEnv> {
  const { clock, options } = services;
  const refused = new LocalThrottle();
  const bodies = strangersBodies();
  const answered = services.meters.histogram({
    name: "agent_engine_http_request_duration_seconds",
    help: "Requests and the time until their answers began, by the route's pattern; none for paths that lead nowhere.",
    labels: ["method", "route", "status"],
    buckets: [0.005, 0.025, 0.1, 0.5, 2.5, 10, 60],
  });
  return async (c, next) => {
    const startedAt = clock.now();
    const requestId = acceptId(c.req.header("X-Request-Id")) ?? newId();
    const log = services.log.child({ requestId });
    c.set("services", services);
    c.set("requestId", requestId);
    c.set("log", log);
    c.set("refused", refused);
    c.set("bodies", bodies);
    c.set("ip", clientAddress(c.env?.remoteAddress, c.req.header("X-Forwarded-For"), options.trustProxy));
    const headers = { "X-Request-Id": requestId, ...securityHeaders };
    const setHeader = c.env?.setHeader ?? c.header;
    for (const [name, value] of Object.entries(headers)) setHeader(name, value);

    await next();

    if (!c.env?.setHeader) restore(c, headers);
    const { method, path } = c.req;
    const ms = clock.now() - startedAt;
    const route = routeOf(c);
    answered({ ...route, status: String(c.res.status) }, ms / 1000);
    const shown = route.route === "none" ? withoutLong(path) : path;
    const fields = { method, path: clip(withoutPerson(withoutSecret(shown)), 256), status: c.res.status, ms };
    // In an overload many requests are refused; they are logged as a number.
    const quiet = probePaths.includes(path) || c.error instanceof Overloaded;
    log[quiet ? "debug" : "info"](fields, "Request");
  };
}

/** The route that matched the request. Other paths and methods are left out, since strangers could invent many. */
function routeOf(c: Context<AppEnv>): { method: string; route: string } {
  const route = matchedRoutes(c).at(-1)?.path ?? "/*";
  return route === "/*" ? { method: "none", route: "none" } : { method: c.req.method, route };
}

/** Matches the beginning of the path of a messenger's webhook, which is no secret; the part after the slug may be one. */
const messengerPath = /^(?:telegram|slack|twilio)(?:\/[a-z0-9_.-]{1,128}(?:\/whatsapp)?)?(?:\/|$)/;

/** Removes the secret from the path of a webhook, even if no route matches the path. */
function withoutSecret(path: string): string {
  return path.replace(/(\/webhooks\/)(.+)/is, (_, start: string, rest: string) => {
    const shown = messengerPath.exec(rest)?.[0] ?? "";
    return rest === shown ? start + rest : `${start}${shown}…`;
  });
}

/** Shortens long segments of an unknown path, which may be a mistyped webhook that contains its secret. */
const withoutLong = (path: string): string => path.replace(/([^/]{4})[^/]{12,}/g, "$1…");

/** Returns the id that a proxy sent, if all its characters are harmless in a log. */
function acceptId(id: string | undefined): string | null {
  return id !== undefined && /^[A-Za-z0-9_.:-]{1,128}$/.test(id) ? id : null;
}

/**
 * Sets the headers again if a handler returned a `Response` of its own. `c.header` would copy the response, which is
 * slow on Node.
 */
function restore({ res }: Context<AppEnv>, headers: Record<string, string>): void {
  if (res.headers.has("X-Request-Id")) return;
  for (const [name, value] of Object.entries(headers)) res.headers.set(name, value);
}
