import { errorAnswers, guarded, json, jsonBody, router } from "../../../http/route.ts";
import { Deleted, organizationPath } from "../../../http/shapes.ts";
import { NewRole, RoleAnswer, RoleChanges, Roles, rolePath } from "./schema.ts";
import { createRole, deleteRole, listRoles, updateRole } from "./service.ts";

const tags = ["Organizations"];
const path = "/api/organizations/{orgSlug}/roles";
const feature = "administration";

const listRoute = guarded(
  "org:read",
  {
    method: "get",
    path,
    operationId: "listRoles",
    tags,
    summary: "List roles",
    description: "The built-in roles, from the most permissions to the least, then the organization's own by name.",
    request: { params: organizationPath },
    responses: { 200: json(Roles, "The roles."), ...errorAnswers(404) },
  },
  { feature },
);

const createRoute = guarded(
  "org.role:manage",
  {
    method: "post",
    path,
    operationId: "createRole",
    tags,
    summary: "Create a role",
    description:
      "At most 50. 403 for a permission that the caller lacks. The role stays in force when the feature is off again.",
    request: { params: organizationPath, body: jsonBody(NewRole) },
    responses: { 201: json(RoleAnswer, "The role."), ...errorAnswers(404, 409) },
  },
  { feature },
);

const updateRoute = guarded(
  "org.role:manage",
  {
    method: "put",
    path: `${path}/{key}`,
    operationId: "updateRole",
    tags,
    summary: "Replace a role",
    description:
      "In force from its holders' next call on. A built-in role is 409; 403 for a permission that the caller lacks.",
    request: { params: rolePath, body: jsonBody(RoleChanges) },
    responses: { 200: json(RoleAnswer, "The role as it is now."), ...errorAnswers(404, 409) },
  },
  { feature },
);

const deleteRoute = guarded(
  "org.role:manage",
  {
    method: "delete",
    path: `${path}/{key}`,
    operationId: "deleteRole",
    tags,
    summary: "Delete a role",
    description:
      "With the invitations that offer it. 409 for a built-in role, and while members have it. Needs a signed-in session.",
    request: { params: rolePath },
    responses: { 200: json(Deleted, "It is deleted."), ...errorAnswers(404, 409) },
  },
  { feature, sessionOnly: true },
);

/** `/api/organizations/{orgSlug}/roles`. */
export const roleRoutes = router()
  .openapi(listRoute, async (c) => c.json({ roles: await listRoles(c.var.ctx) }, 200))
  .openapi(createRoute, async (c) => c.json({ role: await createRole(c.var.ctx, c.req.valid("json")) }, 201))
  .openapi(updateRoute, async (c) => {
    const { key } = c.req.valid("param");
    return c.json({ role: await updateRole(c.var.ctx, key, c.req.valid("json")) }, 200);
  })
  .openapi(deleteRoute, async (c) => {
    await deleteRole(c.var.ctx, c.req.valid("param").key);
    return c.json({ deleted: true as const }, 200);
  });
