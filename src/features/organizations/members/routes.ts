import { z } from "@hono/zod-openapi";
import { errorAnswers, guarded, json, jsonBody, router } from "../../../http/route.ts";
import { Deleted, organizationPath } from "../../../http/shapes.ts";
import { EndedSessions } from "../../account/index.ts";
import { Invited } from "../invitations/schema.ts";
import {
  AddedMember,
  Assigned,
  Members,
  memberPath,
  NewMember,
  Removed,
  RenewedPassword,
  RoleAssignment,
} from "./schema.ts";
import {
  addMember,
  changeRole,
  endMemberSessions,
  leaveOrganization,
  listMembers,
  removeMember,
  renewPassword,
} from "./service.ts";

const tags = ["Organizations"];
const path = "/api/organizations/{orgSlug}/members";
const oneOrganization = { oneOrganization: true };

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

const addRoute = guarded(
  "org.member:manage",
  {
    method: "post",
    path,
    operationId: "addMember",
    tags,
    summary: "Add a member",
    description:
      "An e-mail without an account gets one; a password that was generated for it is shown only here. Until the new person changes the password, the account reaches this organization only. The holder of an account that exists is invited (`invited`) and joins by accepting in `POST /api/me/invitations/{id}`, within 14 days; another call renews the invitation. Name and password are of no use then, and nothing is told of the account. Members and Viewers also need a workspace. Only a person, never a management key, may make an Owner.",
    request: { params: organizationPath, body: jsonBody(NewMember) },
    responses: {
      201: json(z.union([AddedMember, Invited]), "The member, or that the account's holder is invited."),
      ...errorAnswers(404, 409),
    },
  },
  oneOrganization,
);

const changeRoleRoute = guarded(
  "org.member:manage",
  {
    method: "put",
    path: `${path}/{userId}`,
    operationId: "changeMemberRole",
    tags,
    summary: "Change a member's role",
    description:
      "In force from the member's next call on. Only an Owner may make or change one, and no management key makes one; the last Owner stays.",
    request: { params: memberPath, body: jsonBody(RoleAssignment) },
    responses: { 200: json(Assigned, "The role is assigned."), ...errorAnswers(404, 409) },
  },
  oneOrganization,
);

const removeRoute = guarded(
  "org.member:manage",
  {
    method: "delete",
    path: `${path}/{userId}`,
    operationId: "removeMember",
    tags,
    summary: "Remove a member",
    description:
      "Takes the organization and its workspaces away at once; the account and its other organizations stay. Only an Owner may remove one; the last Owner stays.",
    request: { params: memberPath },
    responses: { 200: json(Removed, "The member is removed."), ...errorAnswers(404, 409) },
  },
  oneOrganization,
);

const managed =
  "For members who belong to no other organization and whose role is not higher than the caller's; an Owner's account only by a person, and nobody's own.";

const renewPasswordRoute = guarded(
  "org.member:manage",
  {
    method: "post",
    path: `${path}/{userId}/password`,
    operationId: "renewMemberPassword",
    tags,
    summary: "Renew a member's password",
    description: `Makes a new password, which only this answer shows, ends the member's sessions and withdraws invitations of others. Until the member changes it, they are listed with \`passwordPending\`. ${managed}`,
    request: { params: memberPath },
    responses: { 201: json(RenewedPassword, "The new password."), ...errorAnswers(404, 409) },
  },
  oneOrganization,
);

const endSessionsRoute = guarded(
  "org.member:manage",
  {
    method: "delete",
    path: `${path}/{userId}/sessions`,
    operationId: "endMemberSessions",
    tags,
    summary: "Sign a member out",
    description: `Ends all sessions of a member at once. ${managed}`,
    request: { params: memberPath },
    responses: { 200: json(EndedSessions, "They have ended."), ...errorAnswers(404, 409) },
  },
  oneOrganization,
);

const leaveRoute = guarded(null, {
  method: "delete",
  path: "/api/me/organizations/{orgSlug}",
  operationId: "leaveOrganization",
  tags: ["Account"],
  summary: "Leave an organization",
  description: "Takes it and its workspaces from the current user at once. The last Owner stays: 409.",
  request: { params: organizationPath },
  responses: { 200: json(Deleted, "The organization is left."), ...errorAnswers(404, 409) },
});

/** `/api/organizations/{orgSlug}/members`, and `/api/me/organizations/{orgSlug}`. */
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
  })
  .openapi(renewPasswordRoute, async (c) => c.json(await renewPassword(c.var.ctx, c.req.valid("param").userId), 201))
  .openapi(endSessionsRoute, async (c) => {
    const count = await endMemberSessions(c.var.ctx, c.req.valid("param").userId);
    return c.json({ deleted: true as const, count }, 200);
  })
  .openapi(leaveRoute, async (c) => {
    await leaveOrganization(c.var.ctx);
    return c.json({ deleted: true as const }, 200);
  });
