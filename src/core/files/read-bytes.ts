/**
 * Reads a stream to its end. Throws `tooLong` once there are more than `most` bytes, and cancels the rest unless `leaveRest`.
 */
export async function readBytes(
  stream: ReadableStream<Uint8Array>,
  most: number,
  tooLong: () => Error,
  { leaveRest = false }: { leaveRest?: boolean } = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.byteLength;
    if (size > most) {
      // The cancel is not awaited: the other side may never answer it.
      if (leaveRest) reader.releaseLock();
      else void reader.cancel().catch(() => {});
      throw tooLong();
    }
    chunks.push(value);
  }
  const bytes = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return bytes;
}
