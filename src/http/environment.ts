import type { Ctx, Services } from "../context/ctx.ts";
import type { ByteBound } from "../core/limits/byte-bound.ts";
import type { LocalThrottle } from "../core/limits/local-throttle.ts";
import type { Log } from "../core/ports.ts";

/**
 * The variables that middleware sets for every request. Handlers read them as `c.var`. The path of a chat request uses
 * `c.get`, since each use of `c.var` makes Hono copy all of them.
 */
export interface AppEnv {
  Variables: {
    services: Services;
    requestId: string;
    /** The client's address (`clientAddress`). */
    ip: string;
    log: Log;
    /** The counters of refused requests. */
    refused: LocalThrottle;
    /** The bodies that unauthenticated callers are sending. */
    bodies: ByteBound;
    /** Set on guarded routes only. */
    ctx: Ctx;
  };
  /** The bindings of the runtime's server. */
  Bindings: {
    remoteAddress?: string;
    /** The path with its query, as sent. */
    target?: string;
    /**
     * Sets a header of the response, whatever `Response` is returned. On Node, a header of a `Headers` object costs
     * much more.
     */
    setHeader?(name: string, value: string): void;
    /** Ends the connection of a response that can't be completed. */
    cut?(): void;
  };
}
