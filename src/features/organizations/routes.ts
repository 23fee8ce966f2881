import { errorAnswers, guarded, json, jsonBody, router } from "../../http/route.ts";
import { Deleted, organizationPath } from "../../http/shapes.ts";
import { deleteOrganization } from "./delete.ts";
import {
  NewOrganization,
  OrganizationAnswer,
  OrganizationChanges,
  OrganizationDeletion,
  Organizations,
} from "./schema.ts";
import { createOrganization, getOrganization, listOrganizations, updateOrganization } from "./service.ts";

const tags = ["Organizations"];

const listRoute = guarded("org:read", {
  method: "get",
  path: "/api/organizations",
  operationId: "listOrganizations",
  tags,
  summary: "List organizations",
  description:
    "Those that the caller belongs to, each with the role held there. A management key belongs to one. A Platform Admin gets all organizations.",
  responses: { 200: json(Organizations, "The organizations, by name.") },
});

const createRoute = guarded(
  "policy:manage",
  {
    method: "post",
    path: "/api/organizations",
    operationId: "createOrganization",
    tags,
    summary: "Create an organization",
    description:
      "With a workspace `default` and one Owner: the account of `ownerEmail`, else the calling user. An account whose password somebody else chose is refused with 409 until its holder chooses another. The permission has to be held in the first organization, in whose audit log this is recorded. Only by a person: no management key makes an Owner.",
    request: { body: jsonBody(NewOrganization) },
    responses: { 201: json(OrganizationAnswer, "The organization."), ...errorAnswers(409) },
  },
  { installation: true, sessionOnly: true },
);

const getRoute = guarded("org:read", {
  method: "get",
  path: "/api/organizations/{orgSlug}",
  operationId: "getOrganization",
  tags,
  summary: "Read an organization",
  description: "One that the caller reaches, with the role held there.",
  request: { params: organizationPath },
  responses: { 200: json(OrganizationAnswer, "The organization."), ...errorAnswers(404) },
});

const updateRoute = guarded("org:write", {
  method: "patch",
  path: "/api/organizations/{orgSlug}",
  operationId: "updateOrganization",
  tags,
  summary: "Rename an organization",
  description: "Changes what is given. Sessions and management keys go on under a new slug.",
  request: { params: organizationPath, body: jsonBody(OrganizationChanges) },
  responses: { 200: json(OrganizationAnswer, "The organization."), ...errorAnswers(404, 409) },
});

const deleteRoute = guarded(
  "org:write",
  {
    method: "delete",
    path: "/api/organizations/{orgSlug}",
    operationId: "deleteOrganization",
    tags,
    summary: "Delete an organization",
    description:
      "`confirm` has to be its slug. Nobody reaches it from then on: members, keys and agents are refused at once. Its agents with all their data, skills, plugins and workspaces are deleted in the background, its slug is free afterwards, and its entries in the audit log become entries of the installation. Accounts stay. The first organization can't be deleted. There is no way back.",
    request: { params: organizationPath, body: jsonBody(OrganizationDeletion) },
    responses: { 200: json(Deleted, "Nobody reaches it any more."), ...errorAnswers(404, 409) },
  },
  { feature: "administration", sessionOnly: true },
);

/** `/api/organizations` and `/api/organizations/{orgSlug}`. */
export const organizationRoutes = router()
  .openapi(listRoute, async (c) => c.json({ organizations: await listOrganizations(c.var.ctx) }, 200))
  .openapi(createRoute, async (c) =>
    c.json({ organization: await createOrganization(c.var.ctx, c.req.valid("json")) }, 201),
  )
  .openapi(getRoute, async (c) => c.json({ organization: await getOrganization(c.var.ctx) }, 200))
  .openapi(updateRoute, async (c) =>
    c.json({ organization: await updateOrganization(c.var.ctx, c.req.valid("json")) }, 200),
  )
  .openapi(deleteRoute, async (c) => {
    await deleteOrganization(c.var.ctx, c.req.valid("json"));
    return c.json({ deleted: true as const }, 200);
  });
