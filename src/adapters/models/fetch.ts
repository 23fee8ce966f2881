import { readExcerpt } from "../excerpt.ts";
import { withBoundedEvents } from "./event-bound.ts";
import { mediaType, noStream, refusalLength, unreachable } from "./failures.ts";

export type Fetch = typeof globalThis.fetch;

/**
 * The `fetch` for the providers' packages. It follows no redirect, since it would send the key to the new address. A
 * failed connection rejects with the same error on every runtime. A page or a JSON body instead of a stream is refused,
 * since the event parser would read it as an empty reply. A stream whose event has no end fails.
 */
export function providerFetch(fetch: Fetch): Fetch {
  return async (input, init) => {
    const url = String(input instanceof Request ? input.url : input);
    const response = await fetch(input, { ...init, redirect: "manual" }).catch((cause: unknown) => {
      throw init?.signal?.aborted ? cause : unreachable(url, cause);
    });
    const { status, statusText, headers, body } = response;
    if (!body) return response;
    if (!response.ok) {
      // Only an excerpt: the packages would read the whole body.
      const said = await readExcerpt(body.getReader(), refusalLength).catch(() => "");
      return new Response(said, { status, statusText, headers });
    }
    const type = mediaType(headers.get("Content-Type"));
    if (isNoStream(type, url, init?.body)) throw await noStream(type, { url, status, body: body.getReader() });
    return type === "application/json" ? response : withBoundedEvents(response, body);
  };
}

function isNoStream(type: string, url: string, body: unknown): boolean {
  if (type === "text/html") return true;
  const asked = url.includes("alt=sse") || (typeof body === "string" && body.includes('"stream":true'));
  return type === "application/json" && asked;
}
