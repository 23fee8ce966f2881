import type { Context } from "hono";
import { publicAddress } from "../context.ts";
import { EngineError } from "../core/errors.ts";
import type { AppEnv } from "./environment.ts";

/** Whether the browser speaks https with us, itself or through proxies in front. */
export function isSecure(c: Context<AppEnv>): boolean {
  const { services } = c.var;
  const url = new URL(c.req.url);
  if (url.protocol === "https:") return true;
  if (services.options.trustProxy > 0 && lastValue(c.req.header("X-Forwarded-Proto")) === "https") return true;
  const own = new URL(publicAddress(services));
  return own.protocol === "https:" && own.host === url.host;
}

/**
 * Whether an origin is this server's. Hosts are compared, not schemes: behind a proxy that ends TLS this server sees http
 * where the browser says https.
 */
export function isOwnOrigin(c: Context<AppEnv>, origin: string): boolean {
  const host = URL.parse(origin)?.host;
  return host === new URL(c.req.url).host || host === new URL(publicAddress(c.var.services)).host;
}

/** Throws the 403 unless the request comes from a page of ours. */
export function requireOwnOrigin(c: Context<AppEnv>): void {
  const origin = c.req.header("Origin");
  const site = c.req.header("Sec-Fetch-Site");
  if (site === "cross-site") throw foreign();
  // Pages never set this header themselves, so it is as good as the Origin where a browser leaves that out.
  if (origin === undefined && site === "same-origin") return;
  if (origin === undefined || !isOwnOrigin(c, origin)) throw foreign();
}

/** The same for a route that gives a session instead of using one: a client that is no browser sends no Origin. */
export function refuseForeignOrigin(c: Context<AppEnv>): void {
  if (c.req.header("Origin") !== undefined || c.req.header("Sec-Fetch-Site") === "cross-site") requireOwnOrigin(c);
}

const foreign = () =>
  new EngineError(
    "forbidden",
    "Origin is missing or foreign: use the session cookie from this server's own pages only",
  );

const lastValue = (header: string | undefined) => header?.split(",").at(-1)?.trim().toLowerCase();
