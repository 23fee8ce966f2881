import type { Context } from "hono";
import { notFound } from "../../core/errors.ts";
import type { AppEnv } from "../../http/environment.ts";
import { matchesEtag } from "../../http/etag.ts";
import { disposition } from "./rules.ts";
import { type FileRow, readFile } from "./storage.ts";

/** Headers that let a file do nothing in a browser, because anybody may have sent it. */
const harmless = {
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": "sandbox; default-src 'none'",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Cache-Control": "private, no-store",
};

/** Answers a GET or HEAD with the file, or with 304. Throws 404 when its bytes are gone. */
export async function answerWith(c: Context<AppEnv>, file: FileRow) {
  const etag = `"${file.sha256}"`;
  const headers = { ...harmless, ETag: etag };
  if (matchesEtag(c.req.header("If-None-Match"), etag)) return c.body(null, 304, headers);
  const described = {
    ...headers,
    "Content-Type": file.mime,
    "Content-Length": String(file.size),
    "Content-Disposition": disposition(file.mime, file.name),
  };
  if (c.req.method === "HEAD") return c.body(null, 200, described);
  const bytes = await readFile(c.get("services"), file);
  if (!bytes) throw notFound("File");
  return c.body(bytes, 200, described);
}
