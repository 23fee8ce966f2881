import type { Ctx, Services } from "../context/ctx.ts";
import type { Log } from "../core/ports.ts";
import type { Unfinished } from "../core/queues/unfinished.ts";
import type { LocalThrottle } from "./callers/local-throttle.ts";

/**
 * The variables that middleware sets for every request. Handlers read them as `c.var`. What a chat call runs through
 * uses `c.get`: each look at `c.var` makes Hono copy all of them.
 */
export interface AppEnv {
  Variables: {
    services: Services;
    requestId: string;
    /** The client's address (`clientAddress`). */
    ip: string;
    log: Log;
    /** The counts of calls that are refused. */
    refused: LocalThrottle;
    /** The bodies that come in from callers who have proven nothing yet. */
    bodies: Unfinished;
    /** Set on guarded routes only. */
    ctx: Ctx;
  };
  /** The bindings of the runtime's server. */
  Bindings: {
    remoteAddress?: string;
    /** The path with its query, as it was sent. */
    target?: string;
    /** Sets a header of the answer, whatever `Response` comes. On Node, one of a `Headers` object costs much more. */
    setHeader?(name: string, value: string): void;
    /** Ends the connection, for an answer that can't be completed. */
    cut?(): void;
  };
}
