import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { onTestFinished } from "vitest";

/** Text for the wire, a gate to wait for, or `drop`, which breaks the socket. */
type Item = string | Promise<unknown> | typeof drop;

/** The provider's reply to one request. */
export type Reply =
  | { stream: readonly (Item | readonly Item[])[]; headers?: Record<string, string> }
  | { status: number; headers?: Record<string, string>; body?: string }
  /** Reads the request and never answers. */
  | "hang";

interface Exchange {
  path: string;
  /** The client's port: requests over one connection have the same. */
  port: number | undefined;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown>;
  /** Resolves when the connection of this request is gone or its answer complete. */
  closed: Promise<void>;
}

export interface FakeProvider {
  /** The base URL, with `/v1`. */
  url: string;
  /** The requests, in order. */
  exchanges: readonly Exchange[];
  /** Sets the replies to the next requests, in order; the last one is repeated. */
  answer(...replies: Reply[]): void;
}

export const drop = Symbol("drop");

/** A chat-completions server on the loopback with the test's replies; it ends with the test. */
export async function startFakeProvider(...first: Reply[]): Promise<FakeProvider> {
  const exchanges: Exchange[] = [];
  let replies = first;

  const server = createServer(async (request, response) => {
    exchanges.push({
      path: request.url ?? "",
      port: request.socket.remotePort,
      headers: request.headers,
      closed: new Promise((resolve) => response.once("close", resolve)),
      body: JSON.parse((await readAll(request)) || "{}"),
    });
    const reply = replies.length > 1 ? replies.shift() : replies[0];
    if (!reply) response.writeHead(500).end("The fake provider was not told what to answer");
    else if (reply !== "hang") await send(response, reply);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );

  const address = server.address();
  if (!address || typeof address === "string") throw new Error("The fake provider has no port");
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    exchanges,
    answer(...next) {
      replies = next;
    },
  };
}

async function readAll(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  return text;
}

async function send(response: ServerResponse, reply: Exclude<Reply, "hang">): Promise<void> {
  if ("status" in reply) {
    response.writeHead(reply.status, { "Content-Type": "application/json", ...reply.headers });
    response.end(reply.body ?? "");
    return;
  }
  response.writeHead(200, { "Content-Type": "text/event-stream", ...reply.headers });
  response.flushHeaders();
  for (const item of reply.stream.flat()) {
    if (item === drop) return void response.destroy();
    if (typeof item === "string") await new Promise((resolve) => response.write(item, resolve));
    else await Promise.race([item, new Promise((resolve) => response.once("close", resolve))]);
  }
  response.end();
}

/** One event of the stream. */
export function event(data: unknown): string {
  return `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
}

function chunk(delta: object, finishReason: string | null = null): string {
  return event({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1_700_000_000,
    model: "fake",
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  });
}

export function say(...deltas: string[]): string[] {
  return deltas.map((content) => chunk({ content }));
}

export function think(...deltas: string[]): string[] {
  return deltas.map((reasoning_content) => chunk({ reasoning_content }));
}

/** A tool call whose arguments are sent in pieces. */
export function callTool(id: string, name: string, ...pieces: string[]): string[] {
  return [
    chunk({ tool_calls: [{ index: 0, id, type: "function", function: { name, arguments: "" } }] }),
    ...pieces.map((piece) => chunk({ tool_calls: [{ index: 0, function: { arguments: piece } }] })),
  ];
}

/** The regular end of a stream: the finish reason, the count of tokens, `[DONE]`. */
export function done(reason = "stop", { input = 1, output = 1 } = {}): string[] {
  const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
  return [chunk({}, reason), event({ id: "chatcmpl-1", choices: [], usage }), event("[DONE]")];
}

/** The error body of a status. */
export function refusal(status: number, message: string, headers: Record<string, string> = {}, code?: string): Reply {
  return { status, headers, body: JSON.stringify({ error: { message, type: "error", code: code ?? null } }) };
}
