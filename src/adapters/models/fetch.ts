import { APICallError } from "@ai-sdk/provider";
import { EgressError } from "../../core/egress/target.ts";
import { readExcerpt } from "../excerpt.ts";
import { withBoundedEvents } from "./event-bound.ts";

export type Fetch = typeof globalThis.fetch;

/** How many characters of a wrong answer reach the log. */
const excerptLength = 2_000;

/** How many bytes of an error's body are read. */
const errorBytes = 64_000;

/**
 * The `fetch` of all model providers. It follows no redirect, which would take the key along. A failed connection
 * rejects with the same error on every runtime. A page or a JSON body in place of a stream is refused: the parser of
 * events would read it as an empty reply. A stream with an endless event fails.
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
        // A refused address stays refused.
        isRetryable: !(cause instanceof EgressError),
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
    if (!response.ok) return withBoundedBody(response, response.body);
    return type === "application/json" ? response : withBoundedEvents(response, response.body);
  };
}

function isNoStream(type: string, url: string, body: unknown): boolean {
  if (type === "text/html") return true;
  const asked = url.includes("alt=sse") || (typeof body === "string" && body.includes('"stream":true'));
  return type === "application/json" && asked;
}

/** Cuts the body of an error, which the packages would read whole. */
function withBoundedBody({ status, statusText, headers }: Response, body: ReadableStream<Uint8Array>): Response {
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
