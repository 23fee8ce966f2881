import { z } from "@hono/zod-openapi";
import { errorAnswers, guarded, json, jsonBody, router } from "../../../../http/route.ts";
import { organizationPath } from "../../../../http/shapes.ts";
import { PackageAnswer, PackageSettings, Packages } from "./schema.ts";
import { listPackages, savePackage } from "./service.ts";

const tags = ["Tools"];
const path = "/api/organizations/{orgSlug}/plugin-packages";
const administration = { feature: "administration" } as const;

const list = guarded(
  "org.plugin:manage",
  {
    method: "get",
    path,
    operationId: "listPluginPackages",
    tags,
    summary: "List plugin packages",
    description: "The plugins that the operator has installed, and whether the organization's agents can use them.",
    request: { params: organizationPath },
    responses: { 200: json(Packages, "The packages, by namespace."), ...errorAnswers(404) },
  },
  administration,
);

const save = guarded(
  "org.plugin:manage",
  {
    method: "put",
    path: `${path}/{namespace}`,
    operationId: "putPluginPackage",
    tags,
    summary: "Turn a plugin package on or off",
    description:
      "Off, its tools are missing from catalogues, from agents' tools and from turns of the organization, beginning with the next one; the settings of its agents stay for when it is on again.",
    request: {
      params: organizationPath.extend({
        namespace: z.string().openapi({ description: "The namespace of its tools.", example: "github" }),
      }),
      body: jsonBody(PackageSettings),
    },
    responses: { 200: json(PackageAnswer, "The package."), ...errorAnswers(404) },
  },
  administration,
);

/** `/api/organizations/{orgSlug}/plugin-packages`. */
export const packageRoutes = router()
  .openapi(list, async (c) => c.json({ packages: await listPackages(c.var.ctx) }, 200))
  .openapi(save, async (c) => {
    const saved = await savePackage(c.var.ctx, c.req.valid("param").namespace, c.req.valid("json"));
    return c.json({ package: saved }, 200);
  });
