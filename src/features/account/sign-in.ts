import { and, eq } from "drizzle-orm";
import type { Services } from "../../context/ctx.ts";
import { EngineError } from "../../core/errors.ts";
import { users } from "../../db/schema.ts";
import { clientKey } from "../../http/callers/address.ts";
import { recordEvent } from "./audit.ts";
import type { Account } from "./schema.ts";
import { createSession } from "./sessions.ts";
import { countAttempt, findAccount, type KnownAccount, rememberAddress, type SignInRequest } from "./sign-in-limits.ts";

interface Credentials {
  email: string;
  password: string;
}

/**
 * Opens a session for the right password. Throws the same 401, after the same time, for a wrong password, for an unknown
 * account and for an inactive one, and the 429 after too many failures.
 */
export async function signIn(
  services: Services,
  { email, password }: Credentials,
  request: SignInRequest,
): Promise<{ token: string; user: Account }> {
  const failures = await countAttempt(services, { email, request });
  const account = await findAccount(services, email);
  const right = await services.passwords
    .verify(account?.passwordHash ?? null, password, clientKey(request.ip))
    .catch(async (error: unknown) => {
      await failures.takeBack();
      throw error;
    });
  // An inactive account is refused here, so that it takes the same statements as a wrong password.
  const token = account?.active && right ? await openSession(services, account, request) : null;
  if (!account || token === null) {
    await recordSignIn(services, { email, account, request, success: false });
    throw new EngineError("unauthorized", "Wrong e-mail or password");
  }
  await failures.forgive();
  return { token, user: { id: account.id, email, name: account.name } };
}

/** The new session's token; null when the password was changed, or the account made inactive, after the check. */
async function openSession(services: Services, account: KnownAccount, request: SignInRequest): Promise<string | null> {
  return services.database.transaction(async (tx) => {
    const unchanged = and(
      eq(users.id, account.id),
      eq(users.passwordHash, account.passwordHash ?? ""),
      eq(users.active, true),
    );
    // Locked, so that a change at the same time, which ends all sessions, ends this one too.
    const [user] = await tx.select({ email: users.email }).from(users).where(unchanged).for("share");
    if (!user) return null;
    await recordSignIn(services, { email: user.email, account, request }, tx);
    await rememberAddress(services, tx, account.id, request.ip);
    return createSession(services, account.id, request, tx);
  });
}

interface Attempt {
  email: string;
  account: KnownAccount | null;
  request: SignInRequest;
  success?: boolean;
}

function recordSignIn(
  { database }: Services,
  { email, account, request, success = true }: Attempt,
  db = database.db,
): Promise<void> {
  return recordEvent(db, {
    action: "session.create",
    actor: account,
    target: email,
    request,
    organizationIds: account?.organizationIds ?? [],
    success,
  });
}
