import type { ServerResponse } from "node:http";
import type { Outlet, TextSource } from "../../core/queues/outlet.ts";

/** Answers with the head of a response and the text that it offers, in place of its body. */
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
  // A text that comes after the client has left.
  outgoing.on("error", source.cancel);
  outgoing.statusCode = status;
  outgoing.setHeaders(headers);
  source.pull();
  // The first write has sent the headers.
  if (!outgoing.headersSent) outgoing.flushHeaders();
}
