import { StreamCutError } from "./errors.ts";
import type { ChatEvent } from "./generated/types.ts";

/**
 * Yields the events of a stream, in order, to its end. Leaving the loop early closes the connection. Rejects with a
 * `StreamCutError` when the stream ends without `done`.
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  signal?: AbortSignal,
): AsyncGenerator<ChatEvent, void, undefined> {
  const reader = body.getReader();
  let last: ChatEvent | null = null;
  try {
    for await (const block of blocks(reader)) {
      const event = parseEvent(block);
      if (!event) continue;
      last = event;
      yield event;
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw new StreamCutError(last?.id ?? null, error);
  } finally {
    // Not awaited, since a dead connection may never settle the cancel.
    reader.cancel().catch(() => {});
  }
  if (last?.event !== "done") throw new StreamCutError(last?.id ?? null);
}

/** Yields the texts between empty lines. */
async function* blocks(reader: ReadableStreamDefaultReader<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  while (true) {
    const { done, value } = await reader.read();
    if (done) return;
    // Proxies may change line ends. If a piece ends between \r and \n, the next one completes it.
    const parts = (rest + decoder.decode(value, { stream: true })).split(/\r?\n\r?\n/);
    rest = parts.pop() ?? "";
    yield* parts;
  }
}

/** The event of a block; null for comments and for events without data. */
function parseEvent(block: string): ChatEvent | null {
  const fields = { id: "", event: "message", data: "" };
  for (const line of block.split(/\r?\n/)) {
    // JSON may contain U+2028, which a dot matches only with the flag `s`.
    const [, name = "", value = ""] = /^(id|event|data): ?(.*)$/s.exec(line) ?? [];
    if (name === "data") fields.data += fields.data === "" ? value : `\n${value}`;
    else if (name === "id" || name === "event") fields[name] = value;
  }
  if (fields.data === "") return null;
  // Not checked: the client trusts the server to send the events of its API document.
  return { ...fields, data: JSON.parse(fields.data) } as ChatEvent;
}
