import { StreamCutError } from "./errors.ts";
import type { ChatEvent } from "./generated/types.ts";

/**
 * The events of a stream, in order, up to its end; leaving the loop early lets go of the connection. Rejects with a
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
    // Not awaited: a connection that is gone may never answer.
    reader.cancel().catch(() => {});
  }
  if (last?.event !== "done") throw new StreamCutError(last?.id ?? null);
}

/** The texts between empty lines. */
async function* blocks(reader: ReadableStreamDefaultReader<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  while (true) {
    const { done, value } = await reader.read();
    if (done) return;
    // Proxies may rewrite line ends; a cut between \r and \n heals with the next piece.
    const parts = (rest + decoder.decode(value, { stream: true })).split(/\r?\n\r?\n/);
    rest = parts.pop() ?? "";
    yield* parts;
  }
}

/** Null for comments and for what has no data. */
function parseEvent(block: string): ChatEvent | null {
  const fields = { id: "", event: "message", data: "" };
  for (const line of block.split(/\r?\n/)) {
    // JSON may hold U+2028, which only the flag `s` lets a dot match.
    const [, name = "", value = ""] = /^(id|event|data): ?(.*)$/s.exec(line) ?? [];
    if (name === "data") fields.data += fields.data === "" ? value : `\n${value}`;
    else if (name === "id" || name === "event") fields[name] = value;
  }
  if (fields.data === "") return null;
  // The server is believed to speak as its document says.
  return { ...fields, data: JSON.parse(fields.data) } as ChatEvent;
}
