import { errorAnswers, guarded, json, jsonBody, router } from "../../../http/route.ts";
import { Deleted, organizationPath } from "../../../http/shapes.ts";
import {
  InvitationAnswered,
  InvitationReply,
  Invitations,
  invitationPath,
  SentInvitations,
  sentInvitationPath,
} from "./schema.ts";
import { answerInvitation, listReceived, listSent, withdraw } from "./service.ts";

const listSentRoute = guarded("org.member:manage", {
  method: "get",
  path: "/api/organizations/{orgSlug}/invitations",
  operationId: "listSentInvitations",
  tags: ["Organizations"],
  summary: "List invitations",
  description:
    "Those that may still be accepted. One ends after 14 days, and with its inviter's right to make it: with their membership or role, or with the management key.",
  request: { params: organizationPath },
  responses: { 200: json(SentInvitations, "The invitations, the oldest first."), ...errorAnswers(404) },
});

const withdrawRoute = guarded("org.member:manage", {
  method: "delete",
  path: "/api/organizations/{orgSlug}/invitations/{id}",
  operationId: "withdrawInvitation",
  tags: ["Organizations"],
  summary: "Withdraw an invitation",
  description: "It can't be accepted any more.",
  request: { params: sentInvitationPath },
  responses: { 200: json(Deleted, "It is withdrawn."), ...errorAnswers(404) },
});

const listRoute = guarded(null, {
  method: "get",
  path: "/api/me/invitations",
  operationId: "listInvitations",
  tags: ["Account"],
  summary: "List one's invitations",
  description:
    "The organizations that the current user may join. None while `passwordChangeRequired` is true: whoever knows the password could join in the user's place.",
  responses: { 200: json(Invitations, "The invitations, the oldest first.") },
});

const answerRoute = guarded(null, {
  method: "post",
  path: "/api/me/invitations/{id}",
  operationId: "answerInvitation",
  tags: ["Account"],
  summary: "Accept or decline an invitation",
  description:
    "Who accepts is a member from the next call on. The organization learns of either, and from then on sees when members sign in.",
  request: { params: invitationPath, body: jsonBody(InvitationReply) },
  responses: { 200: json(InvitationAnswered, "It is answered."), ...errorAnswers(404) },
});

/** `/api/organizations/{orgSlug}/invitations` and `/api/me/invitations`. */
export const invitationRoutes = router()
  .openapi(listSentRoute, async (c) => c.json({ invitations: await listSent(c.var.ctx) }, 200))
  .openapi(withdrawRoute, async (c) => {
    await withdraw(c.var.ctx, c.req.valid("param").id);
    return c.json({ deleted: true as const }, 200);
  })
  .openapi(listRoute, async (c) => c.json({ invitations: await listReceived(c.var.ctx) }, 200))
  .openapi(answerRoute, async (c) => {
    const { accept } = c.req.valid("json");
    return c.json(await answerInvitation(c.var.ctx, c.req.valid("param").id, accept), 200);
  });
