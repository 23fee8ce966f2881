import { errorAnswers, guarded, json, jsonBody, router } from "../../../http/route.ts";
import { Deleted, organizationPath } from "../../../http/shapes.ts";
import { Assigned, Members, Removed } from "../members/schema.ts";
import { assignMember, listWorkspaceMembers, unassignMember } from "./members.ts";
import { WorkspaceAnswer, WorkspaceName, Workspaces, workspaceMemberPath, workspacePath } from "./schema.ts";
import { createWorkspace, deleteWorkspace, listWorkspaces, renameWorkspace } from "./service.ts";

const tags = ["Organizations"];
const path = "/api/organizations/{orgSlug}/workspaces";

const listRoute = guarded("org:read", {
  method: "get",
  path,
  operationId: "listWorkspaces",
  tags,
  summary: "List workspaces",
  description: "Those within the caller's reach: all for Owners, Admins and management keys, else the assigned ones.",
  request: { params: organizationPath },
  responses: { 200: json(Workspaces, "The workspaces, by name."), ...errorAnswers(404) },
});

const createRoute = guarded("org.member:manage", {
  method: "post",
  path,
  operationId: "createWorkspace",
  tags,
  summary: "Create a workspace",
  description: "It begins without agents and without members.",
  request: { params: organizationPath, body: jsonBody(WorkspaceName) },
  responses: { 201: json(WorkspaceAnswer, "The workspace."), ...errorAnswers(404, 409) },
});

const renameRoute = guarded("org.member:manage", {
  method: "patch",
  path: `${path}/{workspaceId}`,
  operationId: "renameWorkspace",
  tags,
  summary: "Rename a workspace",
  description: "Agents and members stay as they are.",
  request: { params: workspacePath, body: jsonBody(WorkspaceName) },
  responses: { 200: json(WorkspaceAnswer, "The workspace."), ...errorAnswers(404, 409) },
});

const deleteRoute = guarded("org.member:manage", {
  method: "delete",
  path: `${path}/{workspaceId}`,
  operationId: "deleteWorkspace",
  tags,
  summary: "Delete a workspace",
  description: "Refused with 409 while it holds agents, and for the organization's last workspace.",
  request: { params: workspacePath },
  responses: { 200: json(Deleted, "It is deleted."), ...errorAnswers(404, 409) },
});

const membersRoute = guarded("org:read", {
  method: "get",
  path: `${path}/{workspaceId}/members`,
  operationId: "listWorkspaceMembers",
  tags,
  summary: "List a workspace's members",
  description:
    "Those with an entry of their own, with their roles in the organization. Owners and Admins reach every workspace without one.",
  request: { params: workspacePath },
  responses: { 200: json(Members, "The members, by name."), ...errorAnswers(404) },
});

const assignRoute = guarded("org.member:manage", {
  method: "put",
  path: `${path}/{workspaceId}/members/{userId}`,
  operationId: "assignWorkspaceMember",
  tags,
  summary: "Let a member reach a workspace",
  description: "For a member of the organization; doing it again changes nothing.",
  request: { params: workspaceMemberPath },
  responses: { 200: json(Assigned, "The member reaches it."), ...errorAnswers(404) },
});

const unassignRoute = guarded("org.member:manage", {
  method: "delete",
  path: `${path}/{workspaceId}/members/{userId}`,
  operationId: "unassignWorkspaceMember",
  tags,
  summary: "Take a workspace from a member",
  description: "In force at once; doing it again changes nothing. Owners and Admins reach every workspace anyway.",
  request: { params: workspaceMemberPath },
  responses: { 200: json(Removed, "The entry is gone."), ...errorAnswers(404) },
});

/** `/api/organizations/{orgSlug}/workspaces`. */
export const workspaceRoutes = router()
  .openapi(listRoute, async (c) => c.json({ workspaces: await listWorkspaces(c.var.ctx) }, 200))
  .openapi(createRoute, async (c) =>
    c.json({ workspace: await createWorkspace(c.var.ctx, c.req.valid("json").name) }, 201),
  )
  .openapi(renameRoute, async (c) => {
    const { workspaceId } = c.req.valid("param");
    return c.json({ workspace: await renameWorkspace(c.var.ctx, workspaceId, c.req.valid("json").name) }, 200);
  })
  .openapi(deleteRoute, async (c) => {
    await deleteWorkspace(c.var.ctx, c.req.valid("param").workspaceId);
    return c.json({ deleted: true as const }, 200);
  })
  .openapi(membersRoute, async (c) =>
    c.json({ members: await listWorkspaceMembers(c.var.ctx, c.req.valid("param").workspaceId) }, 200),
  )
  .openapi(assignRoute, async (c) => {
    const { workspaceId, userId } = c.req.valid("param");
    await assignMember(c.var.ctx, workspaceId, userId);
    return c.json({ assigned: true as const }, 200);
  })
  .openapi(unassignRoute, async (c) => {
    const { workspaceId, userId } = c.req.valid("param");
    await unassignMember(c.var.ctx, workspaceId, userId);
    return c.json({ removed: true as const }, 200);
  });
