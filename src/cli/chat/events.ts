/** One server-sent event, with its data parsed. */
export interface ChatEvent {
  event: string;
  /** What the stream can be resumed by; null when the event has none. */
  id: string | null;
  data: Record<string, unknown>;
}

/** Reads the events out of a stream's bytes. Comments and data that is no JSON object are left out. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ChatEvent> {
  const decoder = new TextDecoder();
  let buffer = "";
  for await (const bytes of body) {
    buffer += decoder.decode(bytes, { stream: true });
    // A break that is cut in half between `\r` and `\n` waits for its other half.
    const blocks = buffer.split(/\r?\n\r?\n/);
    buffer = blocks.pop() ?? "";
    for (const block of blocks) {
      const event = parseBlock(block);
      if (event) yield event;
    }
  }
}

function parseBlock(block: string): ChatEvent | null {
  const fields = new Map<string, string>();
  for (const line of block.split(/\r?\n/)) {
    const [, name, value = ""] = /^([^:]+):? ?(.*)$/s.exec(line) ?? [];
    if (name === undefined) continue;
    const before = name === "data" ? fields.get(name) : undefined;
    fields.set(name, before === undefined ? value : `${before}\n${value}`);
  }
  const data = parseObject(fields.get("data"));
  return data && { event: fields.get("event") ?? "message", id: fields.get("id") ?? null, data };
}

function parseObject(text: string | undefined): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text ?? "null");
    return typeof value === "object" ? (value as Record<string, unknown> | null) : null;
  } catch {
    return null;
  }
}
