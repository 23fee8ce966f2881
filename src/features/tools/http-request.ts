import type { Services } from "../../context/ctx.ts";
import { type Destination, destinationOf, isSameDestination } from "../../core/egress/destination.ts";
import type { JsonObject, JsonValue, Tool } from "../../turn/types.ts";
import { httpRequest } from "./builtin.ts";
import { fillingRoom, type Placeholders } from "./placeholders.ts";

/** The most bytes of a response (decisions §7). */
const maxBytes = 1024 * 1024;

/** The tool `httpRequest` of an organization's agent with these placeholders. */
export function httpRequestTool({ egress, policies }: Services, owner: string, placeholders: Placeholders): Tool {
  const tool = httpRequest.implement(async ({ url, method = "GET", headers = {}, body }, { signal }) => {
    const asked = { url, headers: withType(headers, body), body: body as JsonValue | undefined };
    const filled = fillIn(asked, placeholders);
    const {
      status,
      headers: answered,
      body: text,
    } = await egress.request({
      ...filled,
      body: filled.body === undefined || typeof filled.body === "string" ? filled.body : JSON.stringify(filled.body),
      method,
      allowedHosts: policies.values.httpAllowedHosts,
      sensitive: JSON.stringify(filled) !== JSON.stringify(asked),
      maxBytes,
      owner,
      signal,
    });
    return { status, headers: answered, body: text } satisfies JsonValue;
  });
  return { ...tool, textOf: (result) => answerOf(result as JsonObject) };
}

/** The text of a successful response; null after an error and for an empty body. */
function answerOf({ status, body }: JsonObject): string | null {
  const succeeded = typeof status === "number" && status >= 200 && status < 300;
  return succeeded && typeof body === "string" && body !== "" ? body : null;
}

interface RequestParts {
  url: string;
  headers: Record<string, string>;
  body: JsonValue | undefined;
}

/**
 * Fills in the placeholders. Values for certain hosts come last, when the request's host is known. Throws an `Error`
 * when such a value would become part of the host.
 */
function fillIn({ url, headers, body }: RequestParts, placeholders: Placeholders): RequestParts {
  // Values in a query are percent-encoded.
  const [, path = "", query = ""] = /^([^?]*)(.*)$/s.exec(url) ?? [];
  const address = (host: Destination | null) =>
    placeholders.fill(path, host) + placeholders.fill(query, host, { write: encodeURIComponent });
  const to = destinationOf(address(null));
  const room = fillingRoom();
  const fill = (text: string) => placeholders.fill(text, to, { room });
  const whole = address(to);
  if (!isSameDestination(destinationOf(whole), to))
    throw new Error("A placeholder that is bound to hosts can't stand in the host");
  return {
    url: whole,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, fill(value)])),
    body: body === undefined ? undefined : placeholders.fillJson(body, to, room),
  };
}

function withType(headers: Record<string, string>, body: unknown): Record<string, string> {
  const named = Object.keys(headers).some((name) => name.toLowerCase() === "content-type");
  if (body === undefined || named) return headers;
  const type = typeof body === "string" ? "text/plain; charset=utf-8" : "application/json";
  return { ...headers, "Content-Type": type };
}
