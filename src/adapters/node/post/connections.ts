import { globalAgent } from "node:http";
import type { Dispatcher } from "undici";
import Client from "undici/lib/dispatcher/client.js";
import EnvHttpProxyAgent from "undici/lib/dispatcher/env-http-proxy-agent.js";

/** Connections to one server. */
export interface Connections {
  /** Returns a connection without a running post; its first post opens it. */
  take(): Dispatcher;
  /** Takes a connection back after its response; an unhealthy one is closed. */
  give(connection: Dispatcher, healthy: boolean): void;
}

/** In milliseconds. Many servers close a connection after 5 idle seconds, perhaps in the moment of its next use. */
const longestIdleMs = 4_000;

/** Without undici's own time limits: the post's signal ends a slow response. */
const options = {
  allowH2: false,
  connectTimeout: 10_000,
  keepAliveTimeout: longestIdleMs,
  keepAliveMaxTimeout: longestIdleMs,
  headersTimeout: 0,
  bodyTimeout: 0,
};

/** Reaches servers directly, or through the environment's proxy when `NODE_USE_ENV_PROXY` is set. */
export function connectionsTo(): (origin: string) => Connections {
  const { options: usual } = globalAgent as { options?: { proxyEnv?: unknown } };
  if (!usual?.proxyEnv) return directly;
  const agent = new EnvHttpProxyAgent(options);
  return () => ({ take: () => agent, give() {} });
}

/** undici's own pool frees a connection too late for a post right after it, which would open another connection. */
function directly(origin: string): Connections {
  const idle: Client[] = [];
  const open = () => {
    const client = new Client(origin, options);
    return client.on("disconnect", () => {
      const index = idle.indexOf(client);
      if (index === -1) return;
      idle.splice(index, 1);
      void client.close();
    });
  };
  return {
    // Takes the most recently used one, so that the others become idle and close.
    take: () => idle.pop() ?? open(),
    give(client, healthy) {
      if (healthy) idle.push(client as Client);
      else void client.destroy();
    },
  };
}
