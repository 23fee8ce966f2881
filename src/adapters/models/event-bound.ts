/** The longest event in bytes, far above any real one. The parser holds an event in memory until its end. */
const maxEventBytes = 8 * 1024 * 1024;

const lineFeed = 10;
const carriageReturn = 13;

/**
 * The response with its server-sent events unchanged. An event of more than 8 MiB fails the body and closes the
 * connection.
 */
export function withBoundedEvents(response: Response, body: ReadableStream<Uint8Array>): Response {
  const { status, statusText, headers } = response;
  const reader = body.getReader();
  const bound = boundEvents();
  const bounded = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        try {
          bound(value);
        } catch (error) {
          // Not awaited, since a provider may never settle the cancel.
          void reader.cancel().catch(() => {});
          throw error;
        }
        controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    // Nothing is read ahead.
    { highWaterMark: 0 },
  );
  return new Response(bounded, { status, statusText, headers });
}

/** Returns a function to call with each piece of a stream; it throws once an event has more than 8 MiB. */
export function boundEvents(): (bytes: Uint8Array) => void {
  const count = eventCounter();
  return (bytes) => {
    if (count(bytes) > maxEventBytes)
      throw new Error(`The provider sent more than ${maxEventBytes} bytes in one event`);
  };
}

/** Returns a function to call with each piece of a stream; it returns how many bytes the unfinished event has. */
function eventCounter(): (bytes: Uint8Array) => number {
  let open = 0;
  let afterLine = false;
  return (bytes) => {
    const end = lastBlankLine(bytes);
    if (end >= 0) open = bytes.length - end;
    else if (afterLine && isLineEnd(bytes[0])) open = bytes.length;
    else open += bytes.length;
    if (bytes.length > 0) afterLine = bytes[bytes.length - 1] === lineFeed;
    return open;
  };
}

/** The end of the last line before a blank line, or -1. No provider ends lines with a single carriage return. */
function lastBlankLine(bytes: Uint8Array): number {
  let from = bytes.length - 2;
  while (from >= 0) {
    const at = bytes.lastIndexOf(lineFeed, from);
    if (at < 0 || isLineEnd(bytes[at + 1])) return at;
    from = at - 1;
  }
  return -1;
}

function isLineEnd(byte: number | undefined): boolean {
  return byte === lineFeed || byte === carriageReturn;
}
