import type { Context } from "hono";
import { notFound } from "../../core/errors.ts";
import type { AppEnv } from "../../http/environment.ts";
import { matchesEtag } from "../../http/etag.ts";
import { disposition } from "./rules.ts";
import { type FileRow, openStored, readFile } from "./storage.ts";

/** Headers that make a file harmless in a browser, because anybody may have sent it. */
const harmless = {
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": "sandbox; default-src 'none'",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Cache-Control": "private, no-store",
};

/** How long the bucket address in a redirect is valid. */
const redirectSeconds = 5 * 60;

/** Responds to a GET or HEAD with the file, or with 304. Throws 404 when its bytes are missing. */
export async function answerWith(c: Context<AppEnv>, file: FileRow) {
  return answerHead(c, file) ?? sendBytes(c, file);
}

/** Like `answerWith`, but redirects (302) to the bucket for a file that is stored there. */
export async function redirect(c: Context<AppEnv>, file: FileRow) {
  const head = answerHead(c, file);
  if (head) return head;
  const { objects, key } = await openStored(c.get("services"), file);
  if (!objects.link) return sendBytes(c, file);
  const { mime, name } = file;
  const wanted = { seconds: redirectSeconds, mime, disposition: disposition(mime, name) };
  return c.body(null, 302, { ...harmless, Location: await objects.link(key, wanted) });
}

const etagOf = ({ sha256 }: FileRow) => `"${sha256}"`;

const headersOf = (file: FileRow) => ({
  ...harmless,
  ETag: etagOf(file),
  "Content-Type": file.mime,
  "Content-Length": String(file.size),
  "Content-Disposition": disposition(file.mime, file.name),
});

/** The response without the bytes; null when they are needed. */
function answerHead(c: Context<AppEnv>, file: FileRow) {
  const etag = etagOf(file);
  if (matchesEtag(c.req.header("If-None-Match"), etag)) return c.body(null, 304, { ...harmless, ETag: etag });
  return c.req.method === "HEAD" ? c.body(null, 200, headersOf(file)) : null;
}

async function sendBytes(c: Context<AppEnv>, file: FileRow) {
  const bytes = await readFile(c.get("services"), file);
  if (!bytes) throw notFound("File");
  return c.body(cutOff(c, file, bytes), 200, headersOf(file));
}

/** Passes the bytes on. When the storage fails, the client is disconnected too, and the log contains the reason. */
function cutOff(c: Context<AppEnv>, { id }: FileRow, bytes: ReadableStream<Uint8Array<ArrayBuffer>>) {
  const reader = bytes.getReader();
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      const next = await reader.read().catch((err: unknown) => {
        c.get("log").warn({ fileId: id, err }, "A file broke off while it was sent");
        // Cuts the connection instead, where possible: a server would print the error of a body.
        if (!c.env?.cut) throw err;
        c.env.cut();
      });
      // Throws when the reader has left the stream; that error is ignored.
      if (!next || next.done) controller.close();
      else controller.enqueue(next.value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
