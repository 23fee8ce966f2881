import { z } from "@hono/zod-openapi";
import { notFound } from "../../core/errors.ts";
import { errorAnswer } from "../../http/error-answers.ts";
import { matchesEtag } from "../../http/etag.ts";
import { errorAnswers, guarded, router } from "../../http/route.ts";
import { disposition } from "./rules.ts";
import { findFile } from "./service.ts";
import { readFile } from "./storage.ts";

const filePath = z.object({
  id: z.string().openapi({ description: "The file's id.", example: "01936b2e-8f00-7a31-9c54-2f1d0a6b7c8d" }),
});

const get = guarded("conversation:read", {
  method: "get",
  path: "/api/files/{id}",
  operationId: "getFile",
  tags: ["Conversations"],
  summary: "Read a file of a conversation",
  description:
    "An attachment that came in with a message, as it was sent. PNG, JPEG, GIF and WebP may be shown in place; everything else is to be saved. `If-None-Match` is answered with 304.",
  request: { params: filePath },
  responses: {
    200: {
      description: "The file, with its media type.",
      content: { "application/octet-stream": { schema: { type: "string", format: "binary" } } },
    },
    304: { description: "The file is still the same." },
    ...errorAnswers(404),
    409: errorAnswer(409, {
      description: "The agent has no keys to the file's storage any more.",
      message:
        "The file lies in S3: set the agent's secrets s3_region, s3_bucket, s3_access_key_id, s3_secret_access_key again",
    }),
    502: errorAnswer(502, {
      description: "The file's storage failed.",
      message: "The file storage cannot be reached",
    }),
  },
});

/** Headers that let a file do nothing in a browser, because anybody may have sent it. */
const harmless = {
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": "sandbox; default-src 'none'",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Cache-Control": "private, no-store",
};

/** `/api/files`. */
export const fileRoutes = router().openapi(get, async (c) => {
  const file = await findFile(c.var.ctx, c.req.valid("param").id);
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
  const bytes = await readFile(c.var.ctx, file);
  if (!bytes) throw notFound("File");
  return c.body(bytes, 200, described);
});
