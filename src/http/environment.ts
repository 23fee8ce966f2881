import type { Ctx, Services } from "../context/ctx.ts";
import type { ByteBound } from "../core/limits/byte-bound.ts";
import type { LocalThrottle } from "../core/limits/local-throttle.ts";
import type { Log } from "../core/ports.ts";

/**
 * The variables that middleware sets for every request. Handlers read them as `c.var`. Code that serves chat requests
 * uses `c.get`, since Hono copies all variables for each use of `c.var`.
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
    /** The bytes of bodies that unauthenticated callers are sending. */
    bodies: ByteBound;
    /** Only on guarded routes. */
    ctx: Ctx;
  };
  /** The runtime's additions to a request. */
  Bindings: {
    remoteAddress?: string;
    /** The path with its query, as sent. */
    target?: string;
    /**
     * Sets a header of the response, whichever `Response` is returned. On Node, headers in a `Headers` object cost much
     * more.
     */
    setHeader?(name: string, value: string): void;
    /** Ends the connection, when a response can't be completed. */
    cut?(): void;
  };
}
