import type { OpenAPIHono } from "@hono/zod-openapi";
import type { AppEnv } from "../../http/environment.ts";
import { errorAnswers, guarded, json, jsonBody, router } from "../../http/route.ts";
import { organizationPath } from "../../http/shapes.ts";
import type { RetainedRows } from "../../jobs/retained-rows.ts";
import { NewPolicies, Policies, Preview, PreviewRequest } from "./schema.ts";
import { changePolicies, previewPolicies, readPolicies } from "./service.ts";

const tags = ["Organizations"];
const path = "/api/organizations/{orgSlug}/retention";
const feature = "administration";

const show = guarded(
  "org:write",
  {
    method: "get",
    path,
    operationId: "getRetention",
    tags,
    summary: "Read the retention policies",
    description: "Of each subject one, whether it is on or not.",
    request: { params: organizationPath },
    responses: { 200: json(Policies, "The policies."), ...errorAnswers(404) },
  },
  { feature },
);

const change = guarded(
  "org:write",
  {
    method: "put",
    path,
    operationId: "setRetention",
    tags,
    summary: "Set the retention policies",
    description:
      "Replaces all of them: a subject that is not named is turned off. A policy deletes once a day, first 24 hours after it was turned on or got fewer days. Open work and conversations under legal hold stay.",
    request: { params: organizationPath, body: jsonBody(NewPolicies) },
    responses: { 200: json(Policies, "The policies as they are now."), ...errorAnswers(404) },
  },
  { feature },
);

const preview = guarded(
  "org:write",
  {
    method: "post",
    path: `${path}/preview`,
    operationId: "previewRetention",
    tags,
    summary: "Count the rows that retention would delete",
    description:
      "Deletes nothing. Counts what the given policies would delete now, else what the stored ones would; those that are off count too.",
    request: { params: organizationPath, body: { ...jsonBody(PreviewRequest), required: false } },
    responses: { 200: json(Preview, "The counts."), ...errorAnswers(404) },
  },
  { feature },
);

/** `/api/organizations/{orgSlug}/retention`. */
export const retentionRoutes = (retained: () => readonly RetainedRows[]): OpenAPIHono<AppEnv> =>
  router()
    .openapi(show, async (c) => c.json(await readPolicies(c.var.ctx), 200))
    .openapi(change, async (c) => c.json(await changePolicies(c.var.ctx, c.req.valid("json")), 200))
    .openapi(preview, async (c) => {
      const counts = await previewPolicies(c.var.ctx, retained(), c.req.valid("json"));
      return c.json({ counts }, 200);
    });
