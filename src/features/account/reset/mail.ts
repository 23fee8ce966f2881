import { and, eq } from "drizzle-orm";
import { z } from "zod";
import { publicAddress, type Services } from "../../../context/ctx.ts";
import type { Mail } from "../../../core/mail.ts";
import { users } from "../../../db/schema.ts";
import type { JobKinds } from "../../../jobs/attempt.ts";
import { defineJob } from "../../../jobs/define.ts";
import { sendMail } from "../../mail/index.ts";
import { organizationsOf } from "../audit.ts";
import { linkMinutes, makeResetLink } from "./links.ts";

/** Sends a user the link to reset the password. For an unknown id, as of an unknown e-mail, the job does nothing. */
export const resetMail = defineJob("mail.reset", z.object({ userId: z.uuid() }), ({ userId }) => userId);

/** The job of reset mails. The link is made when the mail is sent, so that no job contains a token. */
export function resetLinks(services: Services): JobKinds {
  return resetMail.doneBy(async ({ payload: { userId } }, signal) => {
    const { db } = services.database;
    const isActive = and(eq(users.id, userId), eq(users.active, true));
    const [user] = await db.select({ email: users.email }).from(users).where(isActive);
    if (!user) return;
    const organizationIds = await organizationsOf(db, userId);
    const compose = async () => letterOf(services, user.email, await makeResetLink(services, userId));
    await sendMail(services, { kind: "password reset", organizationIds, compose }, signal);
  });
}

/** The mail has no name of the account: other people may have chosen it. */
function letterOf(services: Services, to: string, link: string): Mail {
  const text = `Somebody asked for a new password for your account at
${publicAddress(services)}

Choose one with this link, which works once and for ${linkMinutes} minutes:
${link}

If it was not you, ignore this mail: your password stays as it is.
`;
  return { to, subject: "Choose a new password", text };
}
