import { z } from "@hono/zod-openapi";
import { dataUrlBytes } from "../../core/files/image.ts";
import { matchesEtag } from "../../http/etag.ts";
import { errorAnswers, guarded, json, router } from "../../http/route.ts";
import { Deleted } from "../../http/shapes.ts";
import { deleteIcon, getIcon, putIcon } from "./icon.ts";
import { IconAnswer, IconBody, slugParam } from "./schema.ts";

const tags = ["Agents"];
const path = "/api/instances/{slug}/icon";
const binary = { schema: { type: "string", format: "binary" } } as const;
const version = z.object({
  v: z.string().optional().openapi({ description: "The version, as in the icon's address." }),
});

const get = guarded("agent:read", {
  method: "get",
  path,
  operationId: "getAgentIcon",
  tags,
  summary: "The agent's icon",
  description:
    "Under its address with `?v=` it may be kept by the browser for good; `If-None-Match` is answered with 304.",
  request: { params: slugParam, query: version },
  responses: {
    200: { description: "The picture.", content: { "image/png": binary, "image/jpeg": binary, "image/webp": binary } },
    304: { description: "The picture is still the same." },
    ...errorAnswers(404),
  },
});

const put = guarded("agent:write", {
  method: "put",
  path,
  operationId: "putAgentIcon",
  tags,
  summary: "Set the agent's icon",
  description:
    "A PNG, JPEG or WebP of at most 512 KiB: as JSON with a `data:` address, or the picture itself as the body. What it is, its content decides; SVG is refused.",
  request: {
    params: slugParam,
    body: {
      content: { "application/json": { schema: IconBody }, "image/*": binary, "application/octet-stream": binary },
    },
  },
  responses: { 200: json(IconAnswer, "Where it is now."), ...errorAnswers(404, 413, 415) },
});

const remove = guarded("agent:write", {
  method: "delete",
  path,
  operationId: "deleteAgentIcon",
  tags,
  summary: "Remove the agent's icon",
  description: "404 when there is none.",
  request: { params: slugParam },
  responses: { 200: json(Deleted, "It is gone."), ...errorAnswers(404) },
});

export const iconRoutes = router()
  .openapi(get, async (c) => {
    const ifNoneMatch = c.req.header("If-None-Match");
    const isKnown = (version: string) => matchesEtag(ifNoneMatch, etagOf(version));
    const icon = await getIcon(c.var.ctx, c.req.valid("param").slug, isKnown);
    const lasting = c.req.valid("query").v === icon.version;
    const headers = {
      ETag: etagOf(icon.version),
      "Cache-Control": lasting ? "private, max-age=31536000, immutable" : "private, no-cache",
      // One browser's cache may serve several signed-in people.
      Vary: "Authorization, Cookie, X-Organization",
      "X-Content-Type-Options": "nosniff",
      "Content-Security-Policy": "default-src 'none'; sandbox",
    };
    if (icon.bytes === null) return c.body(null, 304, headers);
    return c.body(icon.bytes, 200, { ...headers, "Content-Type": icon.mime });
  })
  .openapi(put, async (c) => {
    const { slug } = c.req.valid("param");
    // The route accepts several content types, so its type has no JSON body, although a JSON body was validated.
    const bytes = /^application\/json\b/i.test(c.req.header("Content-Type") ?? "")
      ? dataUrlBytes(IconBody.parse(await c.req.json()).icon)
      : new Uint8Array(await c.req.arrayBuffer());
    return c.json({ icon: await putIcon(c.var.ctx, slug, bytes) }, 200);
  })
  .openapi(remove, async (c) => {
    await deleteIcon(c.var.ctx, c.req.valid("param").slug);
    return c.json({ deleted: true as const }, 200);
  });

const etagOf = (version: string) => `"${version}"`;
