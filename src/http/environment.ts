import type { Ctx, Services } from "../context.ts";
import type { Log } from "../core/ports.ts";

/** What the middleware puts beside every request. `ctx` is there on guarded routes only. */
export interface AppEnv {
  Variables: {
    services: Services;
    /** How many proxies in front are trusted to name the client. */
    requestId: string;
    ip: string;
    log: Log;
    ctx: Ctx;
  };
  /** What the runtime's server knows of the connection. */
  Bindings: { remoteAddress?: string };
}
