import type { Context } from "hono";
import { EngineError } from "../core/errors.ts";
import { readBytes } from "../core/files/read-bytes.ts";
import { ByteBound, type IncomingBytes } from "../core/limits/byte-bound.ts";
import { clientKey } from "./callers/address.ts";
import type { AppEnv } from "./environment.ts";
import { readOn } from "./read-on.ts";

const mebibyte = 1024 * 1024;

/** The most bytes of a body on routes that set no other limit: 1 MiB (decisions §3). */
export const maxBodyBytes = mebibyte;

/** Bounds the bytes received so far in bodies of all unauthenticated callers together. */
export const strangersBodies = () =>
  new ByteBound(
    { most: 64 * mebibyte, mostOfOne: 32 * mebibyte },
    () =>
      new EngineError("unavailable", "Too many large bodies come in at the same time: send it again soon", {
        retryAfterSeconds: 5,
      }),
  );

/** Counts the body of an unauthenticated caller, from now until `end` is called. */
export const holdBody = (c: Context<AppEnv>): IncomingBytes => c.get("bodies").begin(clientKey(c.get("ip")));

/**
 * Throws the 413 for a longer body. A declared length is trusted, since servers enforce it. A body without one is read
 * here, up to the limit, and put back into the request. A body that was read before was limited then. `grow` gets the
 * number of bytes before they are stored, and may throw to refuse the body.
 */
export async function limitBody(c: Context<AppEnv>, limit = maxBodyBytes, grow: IncomingBytes["grow"] = () => {}) {
  if (c.req.method === "GET" || c.req.method === "HEAD") return;
  const declared = requireLength(c, limit);
  if (declared !== null) return grow(declared);
  const { body, bodyUsed } = c.req.raw;
  if (body && !bodyUsed) c.req.raw = new Request(c.req.raw, { body: await readUpTo(c, body, limit, grow) });
}

/**
 * Reads a webhook's body: at most `limit` bytes, both as sent and as decoded. Throws the 413, the error of `grow`, the
 * 415 for a `Content-Encoding` other than gzip, and the 400 for a body that is not encoded as declared.
 */
export async function readBody(
  c: Context<AppEnv>,
  limit: number,
  grow: IncomingBytes["grow"],
): Promise<Uint8Array<ArrayBuffer>> {
  requireLength(c, limit);
  const { body } = c.req.raw;
  const bytes = body ? await readUpTo(c, body, limit, grow) : new Uint8Array();
  const encoding = c.req.header("Content-Encoding")?.trim().toLowerCase() ?? "";
  if (encoding === "" || encoding === "identity") return bytes;
  if (encoding !== "gzip" && encoding !== "x-gzip") {
    throw new EngineError("unsupported-media-type", "Content-Encoding must be gzip, or absent");
  }
  return unzip(bytes, limit);
}

async function unzip(bytes: Uint8Array<ArrayBuffer>, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return readBytes(stream, limit, () => tooLarge(limit)).catch((error: unknown) => {
    if (error instanceof EngineError) throw error;
    throw new EngineError("bad-request", "The body is not gzip, as its Content-Encoding says");
  });
}

/** The declared length of a body; null for a chunked body. Throws the 413. */
function requireLength(c: Context<AppEnv>, limit: number): number | null {
  const declared = c.req.header("Content-Length") ?? "";
  if (c.req.header("Transfer-Encoding") !== undefined || !/^\d+$/.test(declared)) return null;
  if (Number(declared) > limit) throw tooLarge(limit);
  return Number(declared);
}

async function readUpTo(
  c: Context<AppEnv>,
  body: ReadableStream<Uint8Array>,
  limit: number,
  grow: IncomingBytes["grow"],
): Promise<Uint8Array<ArrayBuffer>> {
  try {
    // Not cancelled: the server would take that for a broken request, and close the connection before the response.
    return await readBytes(body, limit, () => tooLarge(limit), { leaveRest: true, grow });
  } catch (refusal) {
    await readOn(c, body);
    throw refusal;
  }
}

const tooLarge = (limit: number) => new EngineError("too-large", `The body may have at most ${limit} bytes`);
