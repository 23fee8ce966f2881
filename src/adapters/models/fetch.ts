import { APICallError } from "@ai-sdk/provider";
import { readExcerpt } from "../excerpt.ts";
import { withBoundedEvents } from "./event-bound.ts";

export type Fetch = typeof globalThis.fetch;

/** How much of a wrong answer the log gets to see. */
const excerptLength = 2_000;

/** How much of an error's body is read at all. */
const errorBytes = 64_000;

/**
 * The `fetch` of all model providers. It follows no redirect, which would take the key along; says of every failed
 * connection that it is one, whatever the runtime calls it; refuses a page or a JSON body where a stream was asked for,
 * which the parser of events would read as a reply without words; and ends a stream whose event has no end.
 */
export function providerFetch(fetch: Fetch): Fetch {
  return async (input, init) => {
    const url = String(input instanceof Request ? input.url : input);
    const response = await fetch(input, { ...init, redirect: "manual" }).catch((cause: unknown) => {
      if (init?.signal?.aborted) throw cause;
      throw new APICallError({
        message: "The provider cannot be reached",
        url,
        requestBodyValues: undefined,
        isRetryable: true,
        cause,
      });
    });
    const type = response.headers.get("Content-Type")?.split(";")[0]?.trim().toLowerCase() ?? "";
    if (response.ok && isNoStream(type, url, init?.body)) {
      throw new APICallError({
        message: `The provider answered with ${type} instead of an event stream`,
        url,
        requestBodyValues: undefined,
        statusCode: response.status,
        isRetryable: false,
        responseBody: await readExcerpt(response, excerptLength),
      });
    }
    if (!response.body) return response;
    if (!response.ok) return withoutExcess(response, response.body);
    return type === "application/json" ? response : withBoundedEvents(response, response.body);
  };
}

function isNoStream(type: string, url: string, body: unknown): boolean {
  if (type === "text/html") return true;
  const asked = url.includes("alt=sse") || (typeof body === "string" && body.includes('"stream":true'));
  return type === "application/json" && asked;
}

/** The packages read the body of an error whole, however long it is. */
function withoutExcess({ status, statusText, headers }: Response, body: ReadableStream<Uint8Array>): Response {
  let left = errorBytes;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(bytes, controller) {
      controller.enqueue(bytes.subarray(0, left));
      left -= bytes.length;
      if (left <= 0) controller.terminate();
    },
  });
  return new Response(body.pipeThrough(limit), { status, statusText, headers });
}
