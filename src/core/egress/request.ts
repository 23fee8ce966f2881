import type { EgressRequest } from "../ports.ts";
import { EgressError, parseTarget, type Target } from "./target.ts";

export type HeaderList = readonly (readonly [name: string, value: string])[];

/** One request: the first, or the one after a redirect. */
export interface Hop {
  target: Target;
  method: string;
  headers: HeaderList;
  body: Uint8Array<ArrayBuffer> | null;
}

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const bodyLimit = 1_048_576;
const headerLimit = 64;
const headerCharacters = 16_384;

/** Headers that frame the message or belong to one connection. Only the engine itself writes them. */
const ownHeaders = new Set([
  ...["host", "content-length", "transfer-encoding", "accept-encoding", "expect"],
  ...["connection", "keep-alive", "proxy-connection", "te", "trailer", "upgrade", "http2-settings"],
  ...["proxy-authorization", "proxy-authenticate"],
]);

/** The first hop of a request. Throws an `EgressError` that tells the caller what to change. */
export function firstHop({ url, method, headers, body }: EgressRequest): Hop {
  const target = parseTarget(url);
  const verb = method.toUpperCase();
  if (!methods.includes(verb)) throw new EgressError(`The method must be one of ${methods.join(", ")}`);
  return { target, method: verb, headers: checkHeaders(headers), body: encodeBody(verb, body) };
}

function encodeBody(method: string, body: string | undefined): Uint8Array<ArrayBuffer> | null {
  if (body === undefined) return null;
  if (method === "GET" || method === "HEAD") throw new EgressError(`A ${method} request has no body`);
  const bytes = new TextEncoder().encode(body);
  if (bytes.length > bodyLimit) throw new EgressError("The body is larger than 1 MiB");
  return bytes;
}

function checkHeaders(headers: Readonly<Record<string, string>>): HeaderList {
  const list = Object.entries(headers);
  if (list.length > headerLimit) throw new EgressError(`There are more than ${headerLimit} headers`);
  const seen = new Set<string>();
  let characters = 0;
  for (const [name, value] of list) {
    checkHeader(name, value);
    if (seen.has(name.toLowerCase())) throw new EgressError(`The header ${name} is given twice`);
    seen.add(name.toLowerCase());
    characters += name.length + value.length;
  }
  if (characters > headerCharacters) throw new EgressError("The headers are larger than 16 KiB");
  return list;
}

/** Throws for an invalid header. The error contains the name only if that is valid: an invalid one may be a secret. */
function checkHeader(name: string, value: string): void {
  if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/.test(name)) throw new EgressError("A header has no valid name");
  if (ownHeaders.has(name.toLowerCase())) {
    throw new EgressError(`The header ${name} cannot be set; leave it out`);
  }
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
    throw new EgressError(`The value of the header ${name} has characters that a header cannot hold`);
  }
}
