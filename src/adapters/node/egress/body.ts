import type { IncomingMessage } from "node:http";
import { promisify } from "node:util";
import * as zlib from "node:zlib";
import { EgressError } from "../../../core/egress/target.ts";
import type { Incoming } from "../../../core/queues/unfinished.ts";
import { errorCode } from "../error-code.ts";

type Decode = (bytes: Uint8Array, maxOutputLength: number) => Promise<Uint8Array>;

const [gunzip, inflate, inflateRaw, unbrotli] = [
  promisify(zlib.gunzip),
  promisify(zlib.inflate),
  promisify(zlib.inflateRaw),
  promisify(zlib.brotliDecompress),
];

/** Some servers send "deflate" without the header of zlib, whose low four bits are 8. */
const undeflate: Decode = (bytes, maxOutputLength) =>
  (((bytes[0] ?? 0) & 15) === 8 ? inflate : inflateRaw)(bytes, { maxOutputLength });

const codings = new Map<string, Decode>([
  ["gzip", (bytes, maxOutputLength) => gunzip(bytes, { maxOutputLength })],
  ["x-gzip", (bytes, maxOutputLength) => gunzip(bytes, { maxOutputLength })],
  ["deflate", undeflate],
  ["br", (bytes, maxOutputLength) => unbrotli(bytes, { maxOutputLength })],
]);

/** Bytes that do not shrink grow a little when they are compressed. */
const compressionExcess = 16_384;
const mostCodings = 3;

/** Each piece costs some 2 µs, however small it is: a million of one byte each would hold up everybody for seconds. */
const mostPieces = 20_000;

interface Bounds {
  maxBytes: number;
  /** Counts what comes over the wire. */
  incoming: Incoming;
}

/** The body of an answer, decompressed; throws an `EgressError` if it is longer than `maxBytes` or not whole. */
export async function readBytes(response: IncomingMessage, { maxBytes, incoming }: Bounds): Promise<Uint8Array> {
  const decoders = decodersOf(response.headers["content-encoding"]);
  const limit = decoders.length === 0 ? maxBytes : maxBytes + compressionExcess;
  let length = 0;
  let bytes = await collect(response, (more) => {
    length += more;
    if (length > limit) throw tooLarge(maxBytes);
    incoming.grow(more);
  });
  // The answer to a HEAD names a coding too, and has no body.
  if (bytes.length === 0) return bytes;
  for (const decode of decoders) bytes = await decodeWithin(decode, bytes, maxBytes);
  return bytes;
}

/** The decoders in the order of their use. The header names the codings in the order in which they were applied. */
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
 * The bytes of the body, of whose pieces `count` is told; the answer is refused with what that throws. By events: a loop
 * over the body sees several pieces as one, and could not count them.
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
