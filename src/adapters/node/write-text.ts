import type { ServerResponse } from "node:http";
import type { Outlet, TextSource } from "../../core/text/outlet.ts";

/** Sends a response's head and its text, instead of its body. */
export function writeText(
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
  // A write may follow after the client has left.
  outgoing.on("error", source.cancel);
  outgoing.statusCode = status;
  outgoing.setHeaders(headers);
  source.pull();
  // The first write sends the headers, too.
  if (!outgoing.headersSent) outgoing.flushHeaders();
}
