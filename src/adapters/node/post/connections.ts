import { globalAgent } from "node:http";
import type { Dispatcher } from "undici";
import Client from "undici/lib/dispatcher/client.js";
import EnvHttpProxyAgent from "undici/lib/dispatcher/env-http-proxy-agent.js";

/** Connections to one server. */
export interface Connections {
  /** A connection without a post; its first post opens it. */
  take(): Dispatcher;
  /** Takes the connection back when its answer is over; one that is not healthy is closed. */
  give(connection: Dispatcher, healthy: boolean): void;
}

/** Many servers close a connection that idled for 5 seconds, perhaps at the moment when it is used again. */
const longestIdleMs = 4_000;

/** The signal of a post ends what takes too long once there is a connection. */
const options = {
  allowH2: false,
  connectTimeout: 10_000,
  keepAliveTimeout: longestIdleMs,
  keepAliveMaxTimeout: longestIdleMs,
  headersTimeout: 0,
  bodyTimeout: 0,
};

/** Reaches servers directly, or by the environment's proxy where `NODE_USE_ENV_PROXY` is set. */
export function connectionsTo(): (origin: string) => Connections {
  const { options: usual } = globalAgent as { options?: { proxyEnv?: unknown } };
  if (!usual?.proxyEnv) return directly;
  const agent = new EnvHttpProxyAgent(options);
  return () => ({ take: () => agent, give() {} });
}

/** undici's own pool frees a connection too late for a post that follows at once, and would open another one. */
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
    // The connection that was used last will be closed last.
    take: () => idle.pop() ?? open(),
    give(client, healthy) {
      if (healthy) idle.push(client as Client);
      else void client.destroy();
    },
  };
}
