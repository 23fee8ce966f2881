import type { Server } from "node:http";
import { createAdaptorServer } from "@hono/node-server";

interface Served {
  fetch(request: Request, bindings: { remoteAddress?: string }): Response | Promise<Response>;
}

export interface Listener {
  /** The port that was taken; the system chose it if 0 was wanted. */
  port: number;
  /** Lets `app` answer, also the requests that came earlier and have waited. */
  serve(app: Served): void;
  /** Takes no more connections, lets running answers finish, and cuts off those that take over two seconds. */
  close(): Promise<void>;
}

/**
 * Takes the port. A start calls this before it opens or makes anything else, so that a port in use is known at once.
 * Rejects with Node's error (`EADDRINUSE`, `EACCES`, …).
 */
export async function listen(host: string, port: number): Promise<Listener> {
  const ready = Promise.withResolvers<Served>();
  let app: Served | undefined;
  const server = createAdaptorServer({
    async fetch(request, { incoming }) {
      const { remoteAddress } = incoming.socket;
      const served = app ?? (await ready.promise);
      return served.fetch(request, remoteAddress === undefined ? {} : { remoteAddress: plainAddress(remoteAddress) });
    },
    // Slow senders lose their connection; a reply may take as long as it takes.
    serverOptions: { headersTimeout: 20_000, requestTimeout: 60_000, keepAliveTimeout: 75_000 },
  }) as Server;

  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
  const address = server.address();
  return {
    port: typeof address === "object" && address ? address.port : port,
    serve(served) {
      app = served;
      ready.resolve(served);
    },
    close: () =>
      new Promise((resolve) => {
        const sweep = setInterval(() => server.closeIdleConnections(), 20);
        const cut = setTimeout(() => server.closeAllConnections(), 2_000);
        server.close(() => {
          clearInterval(sweep);
          clearTimeout(cut);
          resolve();
        });
      }),
  };
}

/** An IPv4 client of a socket that takes both families shows as `::ffff:192.0.2.1`. */
function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, "");
}
