import { and, eq } from "drizzle-orm";
import { z } from "zod";
import { publicAddress, type Services } from "../../../context/ctx.ts";
import type { Limit } from "../../../core/limits/throttle.ts";
import type { Mail } from "../../../core/mail.ts";
import { invitations, users } from "../../../db/schema.ts";
import { countCall } from "../../../db/throttle.ts";
import type { JobKinds } from "../../../jobs/attempt.ts";
import { defineJob } from "../../../jobs/define.ts";
import { sendMail } from "../../mail/index.ts";
import { isValid, momentOf, selectInvitations } from "./find.ts";

/** The most mails of one organization to one person, however often it invites the person. */
const mails: Limit = { calls: 3, windowMs: 60 * 60 * 1000 };

/** Tells an invited person of the invitation. */
export const invitationMail = defineJob("mail.invitation", z.object({ id: z.uuid() }), ({ id }) => id);

/** The job of invitation mails. Sends none for an invitation that is not valid any more. */
export function invitationMails(services: Services): JobKinds {
  return invitationMail.doneBy(async ({ payload: { id }, attempt }, signal) => {
    const moment = momentOf(services);
    const isActive = and(eq(invitations.id, id), eq(users.active, true));
    const [invitation] = await selectInvitations(services.database.db, moment, isActive);
    if (!invitation || !isValid(invitation, moment)) return;
    const { email, organization } = invitation;
    const counted =
      attempt === 1 ? await countCall(services, `invitation-mails:${organization.id}:${email}`, mails) : null;
    if (counted?.allowed === false) return;
    const compose = async () => letterOf(services, invitation);
    await sendMail(services, { kind: "invitation", organizationIds: [organization.id], compose }, signal);
  });
}

interface Invited {
  email: string;
  roleKey: string;
  organization: { slug: string };
  expiresAt: Date;
}

/** The mail names the organization by its slug, since its name could be any text, such as an address of another site. */
function letterOf(services: Services, { email, roleKey, organization: { slug }, expiresAt }: Invited): Mail {
  const text = `You are invited to join the organization ${slug} with the role ${roleKey}.

To accept or decline, sign in with this e-mail address and open your account:
${publicAddress(services)}

The invitation ends on ${expiresAt.toISOString().slice(0, 10)}. If you do not know the organization, ignore this mail.
`;
  return { to: email, subject: `Invitation to ${slug}`, text };
}
