import { type Server, ServerResponse } from "node:http";
import { createServer, type Server as SocketServer } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type Outlet, offeredText, type TextSource } from "../../core/text/outlet.ts";

interface Bindings {
  remoteAddress?: string;
  /** The path with its query, as sent. */
  target: string;
  setHeader(name: string, value: string): void;
  cut(): void;
}

interface ServedApp {
  fetch(request: Request, bindings: Bindings): Response | Promise<Response>;
}

export interface Listener {
  /** The port in use, which the system chose if 0 was requested. */
  port: number;
  /** Lets `app` respond, also to requests that have waited for this. */
  serve(app: ServedApp): void;
  /** Closes each connection after its next response, so that a client's next request may reach another server. */
  drain(): void;
  /** Accepts no more connections, lets running responses finish, and cuts off those that take more than two seconds. */
  close(): Promise<void>;
}

/**
 * Listens on the port. A start calls this before it opens or creates anything else, so that a port in use is noticed at
 * once. Rejects with Node's error (`EADDRINUSE`, `EACCES`, …).
 */
export async function listen(host: string, port: number): Promise<Listener> {
  const ready = Promise.withResolvers<ServedApp>();
  let app: ServedApp | undefined;
  let draining = false;
  const server = createAdaptorServer({
    async fetch(request, { incoming, outgoing }) {
      if (namesHosts(incoming.rawHeaders)) return new Response(null, { status: 400, headers: { Connection: "close" } });
      const { remoteAddress } = incoming.socket;
      const served = app ?? (await ready.promise);
      const response = await served.fetch(request, {
        ...(remoteAddress === undefined ? {} : { remoteAddress: plainAddress(remoteAddress) }),
        target: incoming.url ?? "",
        setHeader: (name, value) => outgoing.setHeader(name, value),
        cut: () => outgoing.destroy(),
      });
      if (draining) outgoing.setHeader("Connection", "close");
      const take = offeredText(response);
      if (!take || !(outgoing instanceof ServerResponse)) return response;
      writeText(response, outgoing, take);
      return RESPONSE_ALREADY_SENT;
    },
    // HTTP/1.0 requests may have no Host, such as those of simple health checks.
    hostname: "localhost",
    // Slow senders are disconnected, but a response may take any time.
    serverOptions: { headersTimeout: 20_000, requestTimeout: 60_000, keepAliveTimeout: 75_000 },
  }) as Server;

  const doors = await openDoors(server, host, port);
  return {
    port: portOf(server) ?? port,
    serve(served) {
      app = served;
      ready.resolve(served);
    },
    drain() {
      draining = true;
    },
    async close() {
      const sweep = setInterval(() => server.closeIdleConnections(), 20);
      const cut = setTimeout(() => server.closeAllConnections(), 2_000);
      // Each socket closes after its last connection.
      await Promise.all([server, ...doors].map((door) => new Promise((resolve) => door.close(resolve))));
      clearInterval(sweep);
      clearTimeout(cut);
    },
  };
}

/**
 * Whether a request has several Host fields: a proxy in front may have used another one than this server does (RFC 9112
 * §3.2).
 */
function namesHosts(rawHeaders: readonly string[]): boolean {
  return rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === "host").length > 1;
}

/**
 * The number of sockets that listen on the port. In one round of its event loop, Node accepts one connection from each:
 * with a single socket, a busy process would let new clients wait for many seconds.
 */
const doorCount = 64;

/** Lets the server listen, on several sockets if the system can share a port. Returns the additional sockets. */
async function openDoors(server: Server, host: string, port: number): Promise<SocketServer[]> {
  // A shared port could also be taken by other servers of this user, so it must be free.
  if (port !== 0) await requireFree(host, port);
  try {
    await opened(server, { host, port, reusePort: true });
  } catch (error) {
    if (!isUnable(error)) throw error;
    await opened(server, { host, port });
    return [];
  }
  const doors = Array.from({ length: doorCount - 1 }, () =>
    // The options that an HTTP server sets for its own sockets.
    createServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit("connection", socket)),
  );
  const taken = portOf(server) ?? port;
  await Promise.all(doors.map((door) => opened(door, { host, port: taken, reusePort: true })));
  return doors;
}

async function requireFree(host: string, port: number): Promise<void> {
  const probe = createServer();
  await opened(probe, { host, port });
  await new Promise((resolve) => probe.close(resolve));
}

function opened(server: SocketServer, where: { host: string; port: number; reusePort?: boolean }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(where, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/** Whether the system can't share a port, as is the case on macOS and Windows. */
function isUnable(error: unknown): boolean {
  return error instanceof Error && "code" in error && ["ENOTSUP", "EINVAL", "ENOPROTOOPT"].includes(String(error.code));
}

function portOf(server: SocketServer): number | null {
  const address = server.address();
  return typeof address === "object" && address ? address.port : null;
}

/** The client's address. On a socket for both families, an IPv4 client appears as `::ffff:192.0.2.1`. */
function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, "");
}

/** Sends a response's head, and its text instead of a stream. */
function writeText(
  { status, headers }: Response,
  outgoing: ServerResponse,
  take: (outlet: Outlet) => TextSource,
): void {
  const source = take({
    enqueue(text) {
      if (outgoing.write(text)) source.pull();
    },
    close: () => outgoing.end(),
    error: (reason) => outgoing.destroy(reason),
  });
  outgoing.on("drain", source.pull);
  outgoing.on("close", source.cancel);
  // There may be a write after the client has disconnected.
  outgoing.on("error", source.cancel);
  outgoing.statusCode = status;
  outgoing.setHeaders(headers);
  source.pull();
  // Otherwise the first write sends the headers.
  if (!outgoing.headersSent) outgoing.flushHeaders();
}
