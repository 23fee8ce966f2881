import type { IncomingMessage } from "node:http";
import { firstHop, type Hop } from "../../../core/egress/request.ts";
import { EgressError } from "../../../core/egress/target.ts";
import type { ByteBound, IncomingBytes } from "../../../core/limits/byte-bound.ts";
import type { McpServer } from "../../../core/ports.ts";
import { explainFailure } from "../egress/failure.ts";
import { type Network, sendChecked } from "../egress/send.ts";
import { type RequestId, readAnswer, readText } from "./answer.ts";
import { tellsLostSession } from "./lost-session.ts";

interface Options {
  network: Network;
  /** Returns the server with its current settings: its allowed hosts may change during the connection. */
  server: () => Pick<McpServer, "allowedHosts" | "owner">;
  unfinished: ByteBound;
  /** Called when the server no longer knows the session. */
  onLostSession: () => void;
  /** Aborts when nobody waits for the server any more: the library ends a session without a signal of its own. */
  over: AbortSignal;
}

const mostErrorBytes = 64 * 1024;

/**
 * A `fetch` for one MCP server, under the rules of egress: public or allowed addresses only, and no redirects. Each
 * request gets its response as plain JSON, so that a server can't hold a stream open, flood it, or send requests.
 */
export function mcpFetch({ network, server, unfinished, onLostSession, over }: Options): typeof globalThis.fetch {
  return async (input, init = {}) => {
    // A GET requests the messages that the server sends on its own. 405 says that there are none (MCP, "Streamable HTTP").
    if (init.method === "GET") return new Response(null, { status: 405 });
    const message = parseMessage(init.body);
    // A message without a method responds to a request of the server. Such requests were dropped, so it is useless.
    if (message && message.method === undefined) return new Response(null, { status: 202 });
    const signal = init.signal ?? over;
    try {
      const hop = hopOf(String(input), init);
      const { allowedHosts, owner } = server();
      const response = await sendChecked(hop, allowedHosts, network, signal);
      const incoming = unfinished.begin(owner);
      const hasSession = new Headers(init.headers).has("mcp-session-id");
      try {
        const { statusCode = 0 } = response;
        if (!hasSession && isOlderTransport(statusCode, new URL(String(input)))) throw new EgressError(olderTransport);
        const { body, ...answer } = await readResponse(response, message?.id ?? null, incoming);
        if (hasSession && tellsLostSession(statusCode, body ?? "")) onLostSession();
        return new Response(body, answer);
      } finally {
        incoming.end();
        response.destroy();
      }
    } catch (error) {
      throw signal.aborted ? signal.reason : explainFailure(error);
    }
  };
}

function hopOf(url: string, init: RequestInit): Hop {
  const { signal } = new AbortController();
  const hop = firstHop({
    url,
    method: init.method ?? "POST",
    headers: Object.fromEntries(new Headers(init.headers)),
    body: typeof init.body === "string" ? init.body : undefined,
    allowedHosts: [],
    sensitive: true,
    maxBytes: 0,
    signal,
  });
  return { ...hop, headers: [...hop.headers, ["Accept-Encoding", "identity"]] };
}

/** Parses a JSON-RPC message. A notification has no id, a response no method. */
function parseMessage(body: unknown): { id?: RequestId; method?: string } | null {
  return typeof body === "string" ? JSON.parse(body) : null;
}

const olderTransport =
  "The server does not take messages at this address. If it only speaks the older HTTP+SSE transport, it can't be used: it needs an address for Streamable HTTP, often /mcp in place of /sse";

/** Whether the server uses HTTP+SSE (MCP 2024-11-05): the address for messages accepts only GET. */
const isOlderTransport = (status: number, { pathname }: URL) =>
  status === 405 || (status === 404 && /\/sse\/?$/.test(pathname));

interface ReadResponse {
  body: string | null;
  status: number;
  headers: Record<string, string>;
}

async function readResponse(
  response: IncomingMessage,
  id: RequestId | null,
  incoming: IncomingBytes,
): Promise<ReadResponse> {
  const { statusCode: status = 0 } = response;
  const session = response.headers["mcp-session-id"];
  const headers = {
    "Content-Type": "application/json",
    ...(typeof session === "string" ? { "mcp-session-id": session } : {}),
  };
  if (status >= 300 && status < 400) {
    throw new EgressError(`The server redirects (HTTP ${status}): give the address that it redirects to`);
  }
  if (status < 200 || status > 599) throw new EgressError("The server's answer is no valid HTTP");
  if (status >= 400) return { body: await readText(response, mostErrorBytes, incoming), status, headers };
  if (id === null) return { body: null, status: 202, headers };
  return { body: await readAnswer(response, id, incoming), status: 200, headers };
}
