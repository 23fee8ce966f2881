import { createParser, type EventSourceMessage } from "eventsource-parser";

/** The most characters that the parser gets at once when lines end in carriage returns: it takes quadratic time. */
const pieceLength = 4_096;

/** Reads server-sent events (WHATWG "Server-sent events"). The returned function takes the next text of the stream. */
export function eventReader(onEvent: (event: EventSourceMessage) => void): (text: string) => void {
  const parser = createParser({ onEvent });
  return (text) => {
    const length = text.includes("\r") ? pieceLength : text.length;
    for (let at = 0; at < text.length; at += length) parser.feed(text.slice(at, at + length));
  };
}
