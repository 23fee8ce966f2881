import { errorAnswers, guarded, json, jsonBody, router } from "../../../http/route.ts";
import { organizationPath } from "../schema.ts";
import { AddedMember, Assigned, Members, memberPath, NewMember, Removed, RoleAssignment } from "./schema.ts";
import { addMember, changeRole, listMembers, removeMember } from "./service.ts";

const tags = ["Organizations"];
const path = "/api/organizations/{orgSlug}/members";

const listRoute = guarded("org:read", {
  method: "get",
  path,
  operationId: "listMembers",
  tags,
  summary: "List members",
  description:
    "Everybody who belongs to the organization, with their roles; `passwordPending` marks those whose password somebody else chose.",
  request: { params: organizationPath },
  responses: { 200: json(Members, "The members, by name."), ...errorAnswers(404) },
});

const addRoute = guarded("org.member:manage", {
  method: "post",
  path,
  operationId: "addMember",
  tags,
  summary: "Add a member",
  description:
    "An e-mail without an account gets one; a password that was generated for it is shown only here. Until the new person changes the password, the account reaches this organization only. An account that exists joins as it is, and the answer says `existingAccount`: its name stays, its password is neither set nor shown. Members and Viewers also need a workspace.",
  request: { params: organizationPath, body: jsonBody(NewMember) },
  responses: { 201: json(AddedMember, "The member."), ...errorAnswers(404, 409) },
});

const changeRoleRoute = guarded("org.member:manage", {
  method: "put",
  path: `${path}/{userId}`,
  operationId: "changeMemberRole",
  tags,
  summary: "Change a member's role",
  description: "In force from the member's next call on. Only an Owner may make or change one; the last Owner stays.",
  request: { params: memberPath, body: jsonBody(RoleAssignment) },
  responses: { 200: json(Assigned, "The role is assigned."), ...errorAnswers(404, 409) },
});

const removeRoute = guarded("org.member:manage", {
  method: "delete",
  path: `${path}/{userId}`,
  operationId: "removeMember",
  tags,
  summary: "Remove a member",
  description:
    "Takes the organization and its workspaces away at once; the account and its other organizations stay. Only an Owner may remove one; the last Owner stays.",
  request: { params: memberPath },
  responses: { 200: json(Removed, "The member is removed."), ...errorAnswers(404, 409) },
});

/** `/api/organizations/{orgSlug}/members`. */
export const memberRoutes = router()
  .openapi(listRoute, async (c) => c.json({ members: await listMembers(c.var.ctx) }, 200))
  .openapi(addRoute, async (c) => c.json(await addMember(c.var.ctx, c.req.valid("json")), 201))
  .openapi(changeRoleRoute, async (c) => {
    await changeRole(c.var.ctx, c.req.valid("param").userId, c.req.valid("json").roleKey);
    return c.json({ assigned: true as const }, 200);
  })
  .openapi(removeRoute, async (c) => {
    await removeMember(c.var.ctx, c.req.valid("param").userId);
    return c.json({ removed: true as const }, 200);
  });
