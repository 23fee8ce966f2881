import type { IncomingMessage } from "node:http";
import { promisify } from "node:util";
import * as zlib from "node:zlib";
import { EgressError } from "../../../core/egress/target.ts";
import type { IncomingBytes } from "../../../core/limits/byte-bound.ts";
import { errorCode } from "../error-code.ts";

type Decode = (bytes: Uint8Array, maxOutputLength: number) => Promise<Uint8Array>;

const [gunzip, inflate, inflateRaw, unbrotli] = [
  promisify(zlib.gunzip),
  promisify(zlib.inflate),
  promisify(zlib.inflateRaw),
  promisify(zlib.brotliDecompress),
];

/** Some servers send "deflate" without zlib's header. The low four bits of that header are 8. */
const undeflate: Decode = (bytes, maxOutputLength) =>
  (((bytes[0] ?? 0) & 15) === 8 ? inflate : inflateRaw)(bytes, { maxOutputLength });

const codings = new Map<string, Decode>([
  ["gzip", (bytes, maxOutputLength) => gunzip(bytes, { maxOutputLength })],
  ["x-gzip", (bytes, maxOutputLength) => gunzip(bytes, { maxOutputLength })],
  ["deflate", undeflate],
  ["br", (bytes, maxOutputLength) => unbrotli(bytes, { maxOutputLength })],
]);

/** How many bytes compression may add: incompressible bytes grow slightly. */
const compressionExcess = 16_384;
const mostCodings = 3;

/**
 * The most pieces of a body. Each costs some 2 µs, however small it is: a million one-byte pieces would block the
 * process for seconds.
 */
const mostPieces = 20_000;

interface Bounds {
  maxBytes: number;
  /** Counts the bytes on the wire. */
  incoming: IncomingBytes;
}

/** The decompressed body of a response; throws an `EgressError` if it is longer than `maxBytes` or incomplete. */
export async function readBytes(response: IncomingMessage, { maxBytes, incoming }: Bounds): Promise<Uint8Array> {
  const decoders = decodersOf(response.headers["content-encoding"]);
  const limit = decoders.length === 0 ? maxBytes : maxBytes + compressionExcess;
  let length = 0;
  let bytes = await collect(response, (more) => {
    length += more;
    if (length > limit) throw tooLarge(maxBytes);
    incoming.grow(more);
  });
  // A response to HEAD also names an encoding, but has no body.
  if (bytes.length === 0) return bytes;
  for (const decode of decoders) bytes = await decodeWithin(decode, bytes, maxBytes);
  return bytes;
}

/** The decoders in the order of their use: from the last one in the header to the first. */
function decodersOf(header: string | undefined): Decode[] {
  const names = (header ?? "").split(",").map((name) => name.trim().toLowerCase());
  const applied = names.filter((name) => name !== "" && name !== "identity");
  const decoders = applied.flatMap((name) => codings.get(name) ?? []);
  if (decoders.length < applied.length || decoders.length > mostCodings) {
    throw new EgressError("The answer is compressed in a way that is not supported");
  }
  return decoders.reverse();
}

/**
 * Collects the body's bytes. Calls `count` for each piece, and rejects with its error. Uses events, since a loop over
 * the body would join pieces, which could then not be counted.
 */
function collect(response: IncomingMessage, count: (bytes: number) => void): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  return new Promise((resolve, reject) => {
    const broken = () => reject(new EgressError("The connection broke before the answer was whole"));
    response.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      try {
        count(chunk.length);
        if (chunks.length > mostPieces) throw tooManyPieces();
      } catch (error) {
        reject(error);
        response.destroy();
      }
    });
    response.on("end", () => resolve(Buffer.concat(chunks)));
    response.on("error", broken);
    response.on("close", broken);
  });
}

async function decodeWithin(decode: Decode, bytes: Uint8Array, maxBytes: number): Promise<Uint8Array> {
  try {
    return await decode(bytes, maxBytes);
  } catch (error) {
    if (errorCode(error) === "ERR_BUFFER_TOO_LARGE") throw tooLarge(maxBytes);
    throw new EgressError("The answer is not compressed as it says");
  }
}

const tooManyPieces = () => new EgressError(`The answer comes in more than ${mostPieces} pieces`);

function tooLarge(maxBytes: number): EgressError {
  const mebibytes = maxBytes / 1_048_576;
  const size = Number.isInteger(mebibytes) ? `${mebibytes} MiB` : `${maxBytes} bytes`;
  return new EgressError(`The answer is larger than ${size}`);
}
