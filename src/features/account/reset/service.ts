import { and, eq } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import { EngineError } from "../../../core/errors.ts";
import { digest, toHex } from "../../../core/ids.ts";
import type { Limit } from "../../../core/limits/throttle.ts";
import { oneTimeTokens, users } from "../../../db/schema.ts";
import { countCall } from "../../../db/throttle.ts";
import { enqueue } from "../../../jobs/enqueue.ts";
import { organizationsOf, recordEvent } from "../audit.ts";
import { isUsable } from "../one-time-tokens.ts";
import { replacePassword } from "../replace-password.ts";
import type { ResetPassword } from "../schema.ts";
import type { SignInRequest } from "../sign-in-limits.ts";
import { resetMail } from "./mail.ts";

/** The most reset mails for one e-mail. */
const mails: Limit = { calls: 3, windowMs: 60 * 60 * 1000 };

/**
 * Enqueues the mail with the link to reset the password of an e-mail's account. Neither the answer nor its time tells
 * whether there is an account: known and unknown e-mails take the same statements, and the mail is made by the job, which
 * waits for the next tick, since its work at once could slow the caller's next request.
 */
export async function requestResetMail(services: Services, email: string): Promise<void> {
  const { database } = services;
  const { allowed } = await countCall(services, `reset-mails:${email}`, mails);
  const [user] = await database.db.select({ id: users.id }).from(users).where(eq(users.email, email));
  const substitute = await substituteId(services, email);
  if (!allowed) return;
  await enqueue(database.db, resetMail.of({ userId: user?.id ?? substitute }));
}

/** An id that no user has, always the same for an unknown e-mail: its jobs replace each other as those of a user do. */
async function substituteId({ cipher }: Services, email: string): Promise<string> {
  const [mark = new Uint8Array()] = await cipher.fingerprints(`reset:${email}`);
  return toHex(mark.subarray(0, 16)).replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, "$1-$2-4$3-8$4-$5");
}

/**
 * Sets the password for the holder of a reset link, and ends all sessions of the user. Throws the 401 for a link that is
 * unknown, used or expired, or whose user is inactive.
 */
export async function resetWithLink(
  services: Services,
  { token, password }: ResetPassword,
  request: SignInRequest,
): Promise<void> {
  const { database, clock, passwords } = services;
  const unused = () => isUsable(services, "reset", tokenDigest);
  const tokenDigest = await digest(token);
  const [link] = await database.db.select({ payload: oneTimeTokens.payload }).from(oneTimeTokens).where(unused());
  if (!link) throw invalidLink();
  // Hashed only for a valid link, since hashing is slow, and before the transaction, which holds locks.
  const passwordHash = await passwords.hash(password);
  const own = { passwordHash, passwordSetBy: null, passwordOrganization: null };
  await database.transaction(async (tx) => {
    // Locked first, so that two links of one user can't be used at the same time.
    const isActive = and(eq(users.id, String(link.payload.userId)), eq(users.active, true));
    const { id, email, name } = users;
    const [user] = await tx.select({ id, email, name }).from(users).where(isActive).for("update");
    if (!user) throw invalidLink();
    const used = { usedAt: new Date(clock.now()) };
    const spent = await tx.update(oneTimeTokens).set(used).where(unused()).returning({ id: oneTimeTokens.id });
    if (spent.length === 0) throw invalidLink();
    const sessionsEnded = await replacePassword(tx, user, own);
    const organizationIds = await organizationsOf(tx, user.id);
    const entry = { action: "password.reset", actor: user, target: user.email, request, organizationIds };
    await recordEvent(tx, { ...entry, summary: { sessionsEnded } });
  });
}

const invalidLink = () => new EngineError("unauthorized", "This link is not valid any more: ask for a new one");
