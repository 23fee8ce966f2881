import type { Context, MiddlewareHandler } from "hono";
import type { AppEnv } from "./environment.ts";

/** How long, in milliseconds, and up to how many bytes the rest of a refused body is read (decisions §3). */
const [longestMs, mostBytes] = [2_000, 16 * 1024 * 1024];

/**
 * Reads the rest of a body and drops it. Many clients read no response before they have sent their body, so closing the
 * connection at once would lose the response. If there is still more data, the connection is closed after the response.
 */
export async function readOn(c: Context<AppEnv>, body: ReadableStream<Uint8Array>): Promise<void> {
  const reader = body.getReader();
  const late = Promise.withResolvers<null>();
  const cancel = c.get("services").clock.after(longestMs, () => late.resolve(null));
  try {
    for (let bytes = 0; bytes <= mostBytes; ) {
      const read = await Promise.race([reader.read(), late.promise]);
      if (read === null) break;
      if (read.done) return;
      bytes += read.value.byteLength;
    }
    c.header("Connection", "close");
  } catch {
    // The client hung up.
  } finally {
    cancel();
    reader.releaseLock();
  }
}

/** `readOn`, before a response for which the body was not needed, such as a refusal. */
export const readUnread: MiddlewareHandler<AppEnv> = async (c, next) => {
  await next();
  const { method, raw } = c.req;
  if (method === "GET" || method === "HEAD" || c.req.header("Content-Length") === "0" || raw.bodyUsed) return;
  if (raw.body && !raw.body.locked) await readOn(c, raw.body);
};
