import type { MiddlewareHandler } from "hono";
import { EngineError } from "../core/errors.ts";
import type { Clock } from "../core/ports.ts";
import type { AppEnv } from "./environment.ts";

/** The paths that balancers and orchestrators ask. They are answered before the start is done, and logged as `debug`. */
export const probePaths: readonly string[] = ["/health", "/ready"];

/** How long a request waits for the server's start, in milliseconds. */
const longestWaitMs = 30_000;

export interface Opening {
  isOpen(): boolean;
  /** Delays requests until `opened` resolves; fails them when it rejects. */
  holdUntil(opened: Promise<unknown>): void;
  middleware: MiddlewareHandler<AppEnv>;
}

/**
 * Lets a server listen before its database is open: all requests except probes wait, and get a 503 after 30 seconds.
 */
export function createOpening({ clock }: { clock: Clock }): Opening {
  let held: Promise<unknown> | null = null;

  const wait = async (opened: Promise<unknown>) => {
    let cancel = () => {};
    const late = new Promise<never>((_, reject) => {
      const refuse = () => reject(new EngineError("unavailable", "The server is still starting: try again soon"));
      cancel = clock.after(longestWaitMs, refuse);
    });
    const failed = (cause: unknown) => {
      throw new EngineError("unavailable", "The server could not start: its log says why", { cause });
    };
    try {
      await Promise.race([opened.catch(failed), late]);
    } finally {
      cancel();
    }
  };

  return {
    isOpen: () => held === null,
    holdUntil(opened) {
      held = opened;
      opened.then(
        () => {
          held = null;
        },
        // The rejection is handled by the waiting requests and by the caller.
        () => {},
      );
    },
    middleware: async (c, next) => {
      if (held && !probePaths.includes(c.req.path)) await wait(held);
      await next();
    },
  };
}
