import { isAdministered } from "../../../context/ctx.ts";
import { errorAnswers, guarded, json, jsonBody, router } from "../../../http/route.ts";
import { Deleted, organizationPath } from "../../../http/shapes.ts";
import { CreatedManagementKey, keyPath, ManagementKeys, NewManagementKey } from "./schema.ts";
import { createManagementKey, deleteManagementKey, listManagementKeys } from "./service.ts";

const tags = ["Organizations"];
const path = "/api/organizations/{orgSlug}/management-keys";

const listKeysRoute = guarded(
  "org.key:manage",
  {
    method: "get",
    path,
    operationId: "listManagementKeys",
    tags,
    summary: "List management keys",
    description: "The organization's keys, without the keys themselves. Needs a signed-in session.",
    request: { params: organizationPath },
    responses: { 200: json(ManagementKeys, "The keys, oldest first."), ...errorAnswers(404) },
  },
  { sessionOnly: true },
);

const createKeyRoute = guarded(
  "org.key:manage",
  {
    method: "post",
    path,
    operationId: "createManagementKey",
    tags,
    summary: "Issue a management key",
    description:
      "The key holds the Owner's permissions in this organization, outlives its issuer's role, and is shown only here. Needs a signed-in session.",
    request: { params: organizationPath, body: jsonBody(NewManagementKey) },
    responses: { 201: json(CreatedManagementKey, "The key."), ...errorAnswers(404) },
  },
  { sessionOnly: true },
);

const deleteKeyRoute = guarded(
  "org.key:manage",
  {
    method: "delete",
    path: `${path}/{id}`,
    operationId: "deleteManagementKey",
    tags,
    summary: "Revoke a management key",
    description:
      "The key stops working at once. Needs a signed-in session; with the feature `administration`, a management key can revoke itself.",
    request: { params: keyPath },
    responses: { 200: json(Deleted, "It is revoked."), ...errorAnswers(404) },
  },
  { sessionOnly: (ctx) => !(isAdministered(ctx) && ctx.actor.type === "key") },
);

/** `/api/organizations/{orgSlug}/management-keys`. */
export const keyRoutes = router()
  .openapi(listKeysRoute, async (c) => c.json({ managementKeys: await listManagementKeys(c.var.ctx) }, 200))
  .openapi(createKeyRoute, async (c) => c.json(await createManagementKey(c.var.ctx, c.req.valid("json")), 201))
  .openapi(deleteKeyRoute, async (c) => {
    await deleteManagementKey(c.var.ctx, c.req.valid("param").id);
    return c.json({ deleted: true as const }, 200);
  });
