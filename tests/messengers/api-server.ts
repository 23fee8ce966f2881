import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { buffer } from "node:stream/consumers";

export interface ApiRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** An answer: `json` or `bytes`, or nothing. */
export interface ApiAnswer {
  status?: number;
  headers?: Record<string, string>;
  json?: unknown;
  bytes?: Uint8Array | string;
}

/** The failures of the next calls: an answer, no answer, or a reset after the request was read. */
type Failure = ApiAnswer | "hang" | "reset";

export interface ApiServer {
  url: string;
  /** The calls, in order. */
  requests: ApiRequest[];
  server: Server;
  /** Makes the next calls whose path contains `part` fail, in order. */
  fail(part: string, ...failures: Failure[]): void;
  close(): Promise<void>;
}

type Handle = (request: ApiRequest) => ApiAnswer | Promise<ApiAnswer>;

/** A server on the loopback that stands in for an API. */
export async function apiServer(handle: Handle): Promise<ApiServer> {
  const requests: ApiRequest[] = [];
  const failing: { part: string; failure: Failure }[] = [];
  const server = createServer(async (incoming, response) => {
    const { method = "", url: path = "", headers } = incoming;
    const request = { method, path, headers, body: (await buffer(incoming)).toString() };
    requests.push(request);
    const next = failing.findIndex(({ part }) => path.includes(part));
    const failure = next < 0 ? null : failing.splice(next, 1)[0]?.failure;
    if (failure === "hang") return;
    if (failure === "reset") return void response.destroy();
    const { status = 200, headers: more = {}, json, bytes } = failure ?? (await handle(request));
    const type = json === undefined ? {} : { "Content-Type": "application/json" };
    response.writeHead(status, { ...type, ...more }).end(json === undefined ? bytes : JSON.stringify(json));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (!address || typeof address === "string") throw new Error("The server has no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    server,
    fail: (part, ...failures) => void failing.push(...failures.map((failure) => ({ part, failure }))),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
