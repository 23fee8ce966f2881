import { z } from "@hono/zod-openapi";
import { organizationPath, Timestamp } from "../../../http/shapes.ts";

const id = z.string().openapi({ description: "The invitation's id." });
export const invitationPath = z.object({ id });
export const sentInvitationPath = organizationPath.extend({ id });

export const Invited = z
  .object({ invited: z.literal(true).openapi({ description: "The e-mail has an account, whose holder may join." }) })
  .openapi("Invited");
export type Invited = z.infer<typeof Invited>;

const invitation = {
  id: z.uuid().openapi({ example: "01936b2e-8f00-7a31-9c54-2f1d0a6b7c8d" }),
  roleKey: z.string().openapi({ description: "The offered role.", example: "member" }),
  invitedBy: z.string().openapi({ description: "The name of the person or management key.", example: "Grace" }),
  createdAt: Timestamp,
  expiresAt: Timestamp,
};

export const SentInvitation = z
  .object({ ...invitation, email: z.string().openapi({ example: "ada@example.com" }) })
  .openapi("SentInvitation");
export type SentInvitation = z.infer<typeof SentInvitation>;
export const SentInvitations = z.object({ invitations: z.array(SentInvitation) }).openapi("SentInvitations");

const organization = z.object({
  slug: z.string().openapi({ example: "default" }),
  name: z.string().openapi({ example: "default" }),
});

export const Invitation = z.object({ ...invitation, organization }).openapi("Invitation");
export type Invitation = z.infer<typeof Invitation>;
export const Invitations = z.object({ invitations: z.array(Invitation) }).openapi("Invitations");

export const InvitationReply = z.object({ accept: z.boolean() }).openapi("InvitationReply");

export const InvitationAnswered = z
  .object({
    accepted: z.boolean(),
    organization: organization
      .extend({ roleKey: invitation.roleKey })
      .optional()
      .openapi({ description: "The one that was joined." }),
  })
  .openapi("InvitationAnswered");
export type InvitationAnswered = z.infer<typeof InvitationAnswered>;
