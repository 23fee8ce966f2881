import { parseTarget } from "./egress.ts";
import type { HeaderList, Hop } from "./egress-request.ts";

/** Headers that tell nobody a secret. All others stay with the origin they were meant for. */
const harmless = new Set(["accept", "accept-language", "content-type", "content-language", "user-agent"]);

const redirects = new Set([301, 302, 303, 307, 308]);

interface Answer {
  status: number;
  location: string | undefined;
}

/**
 * The hop that a redirect asks for, by the rules of the Fetch Standard; null when the answer itself is the result: it is
 * no redirect, or following it would carry secrets to another origin, or anything but a plain question from https to
 * http. Throws an `EgressError` when it leads nowhere.
 */
export function nextHop(hop: Hop, { status, location }: Answer, sensitive: boolean): Hop | null {
  if (!redirects.has(status) || location === undefined) return null;
  const target = parseTarget(location, hop.target.url);
  const next = { ...questionAfter(hop, status), target };
  if (target.url.origin === hop.target.url.origin) return next;
  if (sensitive) return null;
  const headers = next.headers.filter(([name]) => harmless.has(name.toLowerCase()));
  const stripped = headers.length < next.headers.length || next.body !== null;
  const downgrade = hop.target.url.protocol === "https:" && target.url.protocol === "http:";
  return stripped && downgrade ? null : { ...next, headers };
}

/** Method, headers and body after the status: 303, and 301 or 302 after a POST, ask with GET and without a body. */
function questionAfter({ method, headers, body }: Hop, status: number): Omit<Hop, "target"> {
  const asksAgain = status === 303 ? method !== "HEAD" : method === "POST" && status < 303;
  return asksAgain ? { method: "GET", headers: withoutContent(headers), body: null } : { method, headers, body };
}

const withoutContent = (headers: HeaderList) => headers.filter(([name]) => !/^content-/i.test(name));
