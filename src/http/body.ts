import type { Context } from "hono";
import { EngineError } from "../core/errors.ts";
import { readBytes } from "../core/files/read-bytes.ts";
import type { AppEnv } from "./environment.ts";

/** The most bytes of a body unless its route says otherwise: 1 MiB (decisions §3). */
export const maxBodyBytes = 1024 * 1024;

/**
 * Throws the 413 for a longer body. A declared length is trusted, because servers enforce it; a body without one is
 * read here, up to the limit, and put back into the request. A body that was read has been limited before.
 */
export async function limitBody(c: Context<AppEnv>, limit = maxBodyBytes): Promise<void> {
  if (c.req.method === "GET" || c.req.method === "HEAD") return;
  const declared = c.req.header("Content-Length");
  if (declared !== undefined && c.req.header("Transfer-Encoding") === undefined) {
    if (Number(declared) > limit) throw tooLarge(limit);
    return;
  }
  const { body, bodyUsed } = c.req.raw;
  if (!body || bodyUsed) return;
  const bytes = await readUpTo(c, body, limit);
  if (!bytes) throw tooLarge(limit);
  c.req.raw = new Request(c.req.raw, { body: bytes });
}

/** The bytes of the body; null for more than `limit`, of which no more is read. */
export async function readBody(c: Context<AppEnv>, limit: number): Promise<Uint8Array<ArrayBuffer> | null> {
  if (Number(c.req.header("Content-Length")) > limit) return null;
  const { body } = c.req.raw;
  return body ? readUpTo(c, body, limit) : new Uint8Array();
}

async function readUpTo(
  c: Context<AppEnv>,
  body: ReadableStream<Uint8Array>,
  limit: number,
): Promise<Uint8Array<ArrayBuffer> | null> {
  const tooLong = new Error("The body is longer");
  try {
    // The server would take a cancel for a broken request, and close the connection before the answer.
    return await readBytes(body, limit, () => tooLong, { leaveRest: true });
  } catch (error) {
    if (error !== tooLong) throw error;
    // What is left of the body stands before any further request.
    c.header("Connection", "close");
    return null;
  }
}

const tooLarge = (limit: number) => new EngineError("too-large", `The body may have at most ${limit} bytes`);
