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
 * The origin of a page that is not this server's, "null" of one that a browser does not name; null when there is none.
 * For doors that ask for no credentials: there the name that a request asks for proves nothing, since any site may have
 * its own name point at this server (DNS rebinding). Only the public address is believed, and what no site can have: an
 * IP address, and localhost.
 */
export function originOfForeignPage(c: Context<AppEnv>): string | null {
  const origin = c.req.header("Origin");
  if (origin === undefined) return c.req.header("Sec-Fetch-Site") === "cross-site" ? "null" : null;
  const page = parseOrigin(origin);
  const own = page && (isPublic(c, page) || (isAddressed(c, page) && isUnownable(page.hostname)));
  return own ? null : origin;
}

/** Throws the 403 unless the request comes from a page of ours. */
export function requireOwnOrigin(c: Context<AppEnv>): void {
  const origin = c.req.header("Origin");
  const site = c.req.header("Sec-Fetch-Site");
  if (site === "cross-site") throw foreign();
  // Pages never set this header themselves, so it is as good as the Origin where a browser leaves that out.
  if (origin === undefined && site === "same-origin") return;
  const page = parseOrigin(origin);
  if (!page || !(isPublic(c, page) || isAddressed(c, page))) throw foreign();
}

/** The same for a route that gives a session instead of using one: a client that is no browser sends no Origin. */
export function refuseForeignOrigin(c: Context<AppEnv>): void {
  if (c.req.header("Origin") !== undefined || c.req.header("Sec-Fetch-Site") === "cross-site") requireOwnOrigin(c);
}

function parseOrigin(origin = ""): URL | null {
  const url = URL.parse(origin);
  return url && /^https?:$/.test(url.protocol) ? url : null;
}

const isPublic = (c: Context<AppEnv>, page: URL) => sameHost(page, new URL(publicAddress(c.var.services)));
const isAddressed = (c: Context<AppEnv>, page: URL) => sameHost(page, new URL(c.req.url));

/**
 * Hosts are compared, not schemes: behind a proxy that ends TLS this server sees http where the browser says https. So a
 * default port is as good as none.
 */
function sameHost(one: URL, other: URL): boolean {
  return one.hostname === other.hostname && portOf(one) === portOf(other);
}

const portOf = ({ port }: URL) => (port === "80" || port === "443" ? "" : port);

/** Whether nobody can have the name of a host point elsewhere: an IP address as `URL` writes it, or localhost. */
function isUnownable(hostname: string): boolean {
  return /^(?:\d+(?:\.\d+){3}|\[.+\]|(?:.+\.)?localhost)$/.test(hostname);
}

const foreign = () =>
  new EngineError(
    "forbidden",
    "Origin is missing or foreign: use the session cookie from this server's own pages only",
  );

const lastValue = (header: string | undefined) => header?.split(",").at(-1)?.trim().toLowerCase();
