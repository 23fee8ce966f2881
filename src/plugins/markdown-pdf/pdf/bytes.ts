import { joinBytes } from "../../../core/files/read-bytes.ts";

/** Compresses bytes for FlateDecode. The platform does so in another thread. */
export const deflate = (bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> =>
  drained(new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate")));

/** Reads all bytes of a stream. Throws once there are more than `most`. */
export async function drained(
  stream: AsyncIterable<Uint8Array>,
  most = Number.POSITIVE_INFINITY,
): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of stream) {
    length += part.length;
    if (length > most) throw new Error("There is more data than announced");
    parts.push(part);
  }
  return joinBytes(parts);
}
