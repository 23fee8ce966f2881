interface ReadOptions {
  /** Whether a stream that is too long stays open instead of being cancelled. */
  leaveRest?: boolean;
  /** Called with the length of each chunk before it is stored. If it throws, reading ends. */
  grow?(bytes: number): void;
}

/** Reads a whole stream. Throws `tooLong` after more than `most` bytes. */
export async function readBytes(
  stream: ReadableStream<Uint8Array>,
  most: number,
  tooLong: () => Error,
  { leaveRest = false, grow = () => {} }: ReadOptions = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value.byteLength;
      if (size > most) throw tooLong();
      grow(value.byteLength);
      chunks.push(value);
    }
  } catch (error) {
    // Not awaited, since the other side may never settle the promise.
    if (leaveRest) reader.releaseLock();
    else void reader.cancel().catch(() => {});
    throw error;
  }
  return joinBytes(chunks);
}

/** The chunks in one piece. */
export function joinBytes(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}
