import { refusalOf } from "./errors.ts";
import { readEvents } from "./events.ts";
import type { ChatEvent } from "./generated/types.ts";
import { type CallOptions, type ClientOptions, type Operation, type Token, usualHeaders } from "./options.ts";

/** The input of a method: parameters by their names, and the body. */
export type Input = Record<string, unknown>;

const accepted: Record<Operation["answer"], string> = {
  json: "application/json",
  none: "*/*",
  blob: "*/*",
  events: "text/event-stream",
};

/** Sends an operation's request and reads the response. Rejects with an `AgentEngineError` when the server refuses. */
export async function send(client: ClientOptions, operation: Operation, input: Input, options: CallOptions) {
  const response = await request(client, operation, input, options);
  if (operation.answer === "none") return void (await response.body?.cancel());
  return operation.answer === "json" ? ((await response.json()) as unknown) : response.blob();
}

/** Sends an operation's request when the first event is requested, and yields the events of its response. */
export async function* stream(
  client: ClientOptions,
  operation: Operation,
  input: Input,
  options: CallOptions,
): AsyncGenerator<ChatEvent, void, undefined> {
  const { body } = await request(client, operation, input, options);
  if (body) yield* readEvents(body, options.signal);
}

/**
 * Sends an operation's request. Rejects with an `AgentEngineError` when the server refuses, or the response has another
 * form.
 */
export async function request(
  client: ClientOptions,
  operation: Operation,
  input: Input,
  { signal, token = client.token, headers, onOpen }: CallOptions,
): Promise<Response> {
  const { type, bytes } = bodyOf(input.body);
  const all = new Headers({ Accept: accepted[operation.answer], ...usualHeaders(client), ...headers });
  if (type && !all.has("Content-Type")) all.set("Content-Type", type);
  if (token) all.set("Authorization", `Bearer ${await read(token)}`);
  for (const [name, header] of Object.entries(operation.headers ?? {})) {
    if (input[name] !== undefined) all.set(header, String(input[name]));
  }
  // Called without an object: browsers refuse `fetch` with another `this`.
  const call = client.fetch ?? globalThis.fetch;
  const response = await call(addressOf(client.baseUrl, operation, input), {
    method: operation.method,
    headers: all,
    ...(bytes === undefined ? {} : { body: bytes }),
    ...(signal ? { signal } : {}),
  });
  if (!response.ok || !isPromised(response, operation)) throw await refusalOf(response);
  onOpen?.();
  return response;
}

function addressOf(baseUrl: string | URL, { path, query = {} }: Operation, input: Input): string {
  const place = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = input[name];
    if (value === undefined || value === "") throw new TypeError(`${name} is missing: ${path} needs it`);
    // Dots are resolved in URLs, even when encoded, so the request would be for another operation.
    if (value === "." || value === "..") throw new TypeError(`${name} cannot be ${value}`);
    return encodeURIComponent(String(value));
  });
  const search = new URLSearchParams();
  for (const [name, key] of Object.entries(query)) {
    const value = input[name];
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null) search.append(key, String(one));
    }
  }
  const text = search.toString();
  return `${String(baseUrl).replace(/\/+$/, "")}${place}${text && `?${text}`}`;
}

function bodyOf(body: unknown): { type?: string; bytes?: BodyInit } {
  if (body === undefined) return {};
  if (body instanceof Blob) return { type: body.type || "application/octet-stream", bytes: body };
  if (body instanceof ArrayBuffer || body instanceof Uint8Array) {
    return { type: "application/octet-stream", bytes: body as Uint8Array<ArrayBuffer> | ArrayBuffer };
  }
  return { type: "application/json", bytes: JSON.stringify(body) };
}

const read = (token: Token) => (typeof token === "function" ? token() : token);

/** Whether the response has the form that the operation promises: a server of another kind may answer 200 to anything. */
function isPromised({ headers }: Response, { answer }: Operation): boolean {
  const type = headers.get("Content-Type") ?? "";
  if (answer === "json") return /^application\/json\b/.test(type);
  return answer !== "events" || type.startsWith("text/event-stream");
}
