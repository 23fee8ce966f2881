import type { HeaderList, Hop } from "./request.ts";
import { parseTarget } from "./target.ts";

/** Headers that contain no secrets. All others are sent only to the first origin. */
const harmless = new Set(["accept", "accept-language", "content-type", "content-language", "user-agent"]);

const redirects = new Set([301, 302, 303, 307, 308]);

interface Answer {
  status: number;
  location: string | undefined;
}

/**
 * The next hop of a redirect, by the rules of the Fetch Standard. Null when the response itself is the result: it is no
 * redirect, or the next hop would send secrets to another origin, or a body, or headers that are not harmless, from
 * https to http. Throws an `EgressError` when the location can't be requested.
 */
export function nextHop(hop: Hop, { status, location }: Answer, sensitive: boolean): Hop | null {
  if (!redirects.has(status) || location === undefined) return null;
  const target = parseTarget(location, hop.target.url);
  const next = { ...requestAfter(hop, status), target };
  if (target.url.origin === hop.target.url.origin) return next;
  if (sensitive) return null;
  const headers = next.headers.filter(([name]) => harmless.has(name.toLowerCase()));
  const stripped = headers.length < next.headers.length || next.body !== null;
  const downgrade = hop.target.url.protocol === "https:" && target.url.protocol === "http:";
  return stripped && downgrade ? null : { ...next, headers };
}

/** The request after a redirect. A 303, and a 301 or 302 after a POST, lead to a GET without a body. */
function requestAfter({ method, headers, body }: Hop, status: number): Omit<Hop, "target"> {
  const becomesGet = status === 303 ? method !== "HEAD" : method === "POST" && status < 303;
  return becomesGet ? { method: "GET", headers: withoutContent(headers), body: null } : { method, headers, body };
}

const withoutContent = (headers: HeaderList) => headers.filter(([name]) => !/^content-/i.test(name));
