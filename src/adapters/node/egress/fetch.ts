import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { firstHop, type Hop } from "../../../core/egress/request.ts";
import { EgressError } from "../../../core/egress/target.ts";
import { resolveBySystem } from "./names.ts";
import { type Network, sendChecked } from "./send.ts";

type Options = Partial<Network>;

/**
 * A `fetch` with streamed responses, for addresses that others choose: it connects only to public addresses and
 * `allowedHosts`, and follows no redirect. A request body is a text, bytes or absent. Rejects with an `EgressError` for
 * a refused address or another body, with the signal's reason after an abort, and with Node's own error for a failed
 * connection.
 */
export function guardedFetch({ resolve = resolveBySystem, ...route }: Options = {}) {
  return (allowedHosts: readonly string[]): typeof globalThis.fetch =>
    async (input, init = {}) => {
      const signal = init.signal ?? new AbortController().signal;
      if (input instanceof Request) throw new EgressError("A guarded request is given as an address and its options");
      try {
        const hop = hopOf(String(input), init);
        return toResponse(await sendChecked(hop, allowedHosts, { ...route, resolve }, signal));
      } catch (error) {
        throw signal.aborted ? signal.reason : error;
      }
    };
}

/** Checks the request before its body is added: a prompt with pictures is larger than a tool's request may be. */
function hopOf(url: string, { method = "GET", headers, body }: RequestInit): Hop {
  const { signal } = new AbortController();
  const limits = { allowedHosts: [], sensitive: true, maxBytes: 0, signal };
  const hop = firstHop({ url, method, headers: Object.fromEntries(new Headers(headers)), ...limits });
  return {
    ...hop,
    // Without compression, which would delay the words of a stream.
    headers: [...hop.headers, ["Accept-Encoding", "identity"]],
    body: bytesOf(body ?? null),
  };
}

function bytesOf(body: BodyInit | null): Uint8Array<ArrayBuffer> | null {
  if (typeof body === "string") return new TextEncoder().encode(body);
  if (body instanceof Uint8Array) return new Uint8Array(body);
  if (body === null) return null;
  throw new EgressError("The body of a guarded request must be a text or bytes");
}

const withoutBody: ReadonlySet<number> = new Set([204, 205, 304]);

function toResponse(response: IncomingMessage): Response {
  const { statusCode: status = 0, headers } = response;
  const coding = headers["content-encoding"] ?? "identity";
  if (status < 200 || status > 599 || coding !== "identity") {
    response.destroy();
    throw new EgressError(
      coding === "identity" ? "The answer is no valid HTTP" : `The answer is compressed (${coding}), unasked`,
    );
  }
  if (withoutBody.has(status)) response.resume();
  const body = withoutBody.has(status) ? null : (Readable.toWeb(response) as ReadableStream<Uint8Array<ArrayBuffer>>);
  const fields = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [name, one]),
  );
  return new Response(body, { status, headers: fields });
}
