import { z } from "@hono/zod-openapi";
import { notFound } from "../../core/errors.ts";
import { policyLimit, requireAllowed } from "../../core/limits/throttle.ts";
import { countCall } from "../../db/throttle.ts";
import { clientKey } from "../../http/callers/address.ts";
import { countRefused } from "../../http/callers/refused.ts";
import { errorAnswer } from "../../http/error-answers.ts";
import { errorAnswers, guarded, router, unguarded } from "../../http/route.ts";
import { answerWith, redirect } from "./answer.ts";
import { isGenuine } from "./links.ts";
import { readLink } from "./rules.ts";
import { findFile, findLinked } from "./service.ts";

const filePath = z.object({
  id: z.string().openapi({ description: "The file's id.", example: "01936b2e-8f00-7a31-9c54-2f1d0a6b7c8d" }),
});

const binary = { schema: { type: "string", format: "binary" } } as const;

const fileAnswers = {
  200: {
    description: "The file, with its media type; `application/octet-stream` where that is not known.",
    content: { "*/*": binary, "application/octet-stream": binary },
  },
  304: { description: "The file is still the same." },
  409: errorAnswer(409, {
    description: "The agent has no keys to the file's storage any more.",
    message:
      "The file lies in S3: set the agent's secrets s3_region, s3_bucket, s3_access_key_id, s3_secret_access_key again",
  }),
  502: errorAnswer(502, {
    description: "The file's storage failed.",
    message: "The file storage cannot be reached",
  }),
} as const;

const get = guarded("conversation:read", {
  method: "get",
  path: "/api/files/{id}",
  operationId: "getFile",
  tags: ["Conversations"],
  summary: "Read a file of a conversation",
  description:
    "An attachment that came in with a message, as it was sent. PNG, JPEG, GIF and WebP may be shown in place; everything else is to be saved. `If-None-Match` is answered with 304.",
  request: { params: filePath },
  responses: { ...fileAnswers, ...errorAnswers(404) },
});

/** A part of a link, read unchecked, so that every invalid link gets the same 404. */
const part = (description: string, example: string) =>
  z.string().optional().catch(undefined).openapi({ type: "string", description, example });

const link = unguarded({
  method: "get",
  path: "/files/{id}",
  operationId: "getLinkedFile",
  tags: ["Conversations"],
  summary: "Read a file by its link",
  description:
    "A file of a conversation for whoever has the link to it, which a tool such as `files:upload` made. It takes no other credentials, expires after 24 hours, and ends when the conversation is deleted. A file in S3 is answered with its address there, which is valid for 5 minutes. `If-None-Match` is answered with 304.",
  request: {
    params: filePath,
    query: z.object({
      expires: part("Until when the link is valid, in seconds since the epoch.", "1795514400"),
      signature: part("The proof that this server made the link.", "5d41402abc4b2a76".repeat(4)),
    }),
  },
  responses: {
    ...fileAnswers,
    302: { description: "`Location` is the file's address in S3." },
    ...errorAnswers(429),
    404: errorAnswer(404, {
      description: "The link is wrong or expired, or the file is gone.",
      message: "File not found",
    }),
  },
});

/** `/api/files`, and `/files` for links. */
export const fileRoutes = router()
  .openapi(get, async (c) => answerWith(c, await findFile(c.var.ctx, c.req.valid("param").id)))
  .openapi(link, async (c) => {
    const { services } = c.var;
    const { expires, signature } = c.req.valid("query");
    const claim = readLink({ id: c.req.valid("param").id, expires, signature });
    if (!claim || !(await isGenuine(services, claim))) {
      countRefused(c);
      throw notFound("File");
    }
    requireAllowed(await countCall(services, `files:${clientKey(c.var.ip)}`, policyLimit(services)));
    return redirect(c, await findLinked(services, claim.id));
  });
