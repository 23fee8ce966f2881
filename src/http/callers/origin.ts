import type { Context } from "hono";
import { publicAddress } from "../../context/ctx.ts";
import { EngineError } from "../../core/errors.ts";
import type { AppEnv } from "../environment.ts";

/** Whether the browser uses https, to this server or to a proxy in front. */
export function isSecure(c: Context<AppEnv>): boolean {
  const { services } = c.var;
  const url = new URL(c.req.url);
  if (url.protocol === "https:") return true;
  if (services.options.trustProxy > 0 && lastValue(c.req.header("X-Forwarded-Proto")) === "https") return true;
  const own = new URL(publicAddress(services));
  return own.protocol === "https:" && own.host === url.host;
}

/**
 * The URL that the client requested. Behind a proxy, the origin comes from the proxy's headers, and the path prefix,
 * which the proxy removes, from the public address.
 */
export function calledUrl(c: Context<AppEnv>): string {
  const url = new URL(c.req.url);
  const forwarded = c.var.services.options.trustProxy > 0 ? lastValue(c.req.header("X-Forwarded-Host")) : undefined;
  const host = forwarded || url.host;
  const own = new URL(publicAddress(c.var.services));
  const under = host === own.host ? own.pathname.replace(/\/$/, "") : "";
  return `${isSecure(c) ? "https" : "http"}://${host}${under}${url.pathname}${url.search}`;
}

/**
 * The origin of the foreign page that sent the request; "null" when the browser hides it. Null for a request without a
 * page, or from a page of this server. For endpoints without credentials. A request's host proves nothing there, since
 * any site may let its own name point to this server (DNS rebinding). So a page counts as this server's only at the
 * public address, at an IP address or at localhost, which no site can own.
 */
export function originOfForeignPage(c: Context<AppEnv>): string | null {
  const origin = c.req.header("Origin");
  if (origin === undefined) return c.req.header("Sec-Fetch-Site") === "cross-site" ? "null" : null;
  const page = parseOrigin(origin);
  const own = page && (isPublic(c, page) || (isAddressed(c, page) && isUnownable(page.hostname)));
  return own ? null : origin;
}

/** Throws the 403 unless a page of this server sent the request. */
export function requireOwnOrigin(c: Context<AppEnv>): void {
  const origin = c.req.header("Origin");
  const site = c.req.header("Sec-Fetch-Site");
  if (site === "cross-site") throw foreign();
  // `Sec-Fetch-Site`, which no page can set, decides when a browser sends no `Origin`.
  if (origin === undefined && site === "same-origin") return;
  const page = parseOrigin(origin);
  if (!page || !(isPublic(c, page) || isAddressed(c, page))) throw foreign();
}

/** Like `requireOwnOrigin`, for routes that create sessions: only browsers need an Origin. */
export function refuseForeignOrigin(c: Context<AppEnv>): void {
  if (c.req.header("Origin") !== undefined || c.req.header("Sec-Fetch-Site") === "cross-site") requireOwnOrigin(c);
}

function parseOrigin(origin = ""): URL | null {
  const url = URL.parse(origin);
  return url && /^https?:$/.test(url.protocol) ? url : null;
}

const isPublic = (c: Context<AppEnv>, page: URL) => sameHost(page, new URL(publicAddress(c.get("services"))));
const isAddressed = (c: Context<AppEnv>, page: URL) => sameHost(page, new URL(c.req.url));

/**
 * Compares hosts without schemes: behind a proxy that ends TLS, this server sees http while the browser uses https. So
 * the default ports of both schemes count as no port.
 */
function sameHost(one: URL, other: URL): boolean {
  return one.hostname === other.hostname && portOf(one) === portOf(other);
}

const portOf = ({ port }: URL) => (port === "80" || port === "443" ? "" : port);

/** Whether a host is an IP address in the form of `URL`, or localhost, and so no name that anyone can own. */
function isUnownable(hostname: string): boolean {
  return /^(?:\d+(?:\.\d+){3}|\[.+\]|(?:.+\.)?localhost)$/.test(hostname);
}

const foreign = () =>
  new EngineError(
    "forbidden",
    "Origin is missing or foreign: use the session cookie from this server's own pages only",
  );

const lastValue = (header: string | undefined) => header?.split(",").at(-1)?.trim().toLowerCase();
