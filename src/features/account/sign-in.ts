import { and, eq } from "drizzle-orm";
import type { Services } from "../../context.ts";
import { EngineError } from "../../core/errors.ts";
import { members, users } from "../../db/schema.ts";
import { clientKey } from "../../http/address.ts";
import { countCall, forgetCalls, type Limit, requireAllowed, uncountCall } from "../../http/throttle.ts";
import { recordEvent } from "./audit.ts";
import type { Account } from "./schema.ts";
import { createSession } from "./sessions.ts";

const windowMs = 15 * 60 * 1000;
/** Failures of one account from one address. A stranger elsewhere can't lock the account for its owner. */
const perAccount: Limit = { calls: 10, windowMs };
/** Failures from one address, whatever the accounts. */
const perAddress: Limit = { calls: 50, windowMs };
/** All sign-ins from one address, the successful ones too: each costs a hash. */
const inAll: Limit = { calls: 100, windowMs };

interface Request {
  id: string;
  ip: string;
  userAgent: string;
}

interface Credentials {
  email: string;
  password: string;
}

/**
 * Opens a session for the right password. Throws the same 401, after the same time, for a wrong password and for an
 * unknown account, and the 429 after too many of them.
 */
export async function signIn(
  services: Services,
  { email, password }: Credentials,
  request: Request,
): Promise<{ token: string; user: Account }> {
  const failures = await countAttempt(services, email, request);
  const account = await findAccount(services, email);
  const right = await services.passwords
    .verify(account?.passwordHash ?? null, password)
    .catch(async (error: unknown) => {
      await failures.takeBack();
      throw error;
    });
  const token = account && right ? await openSession(services, account, request) : null;
  if (!account || token === null) {
    await recordSignIn(services, { email, account, request, success: false });
    throw new EngineError("unauthorized", "Wrong e-mail or password");
  }
  await failures.forgive();
  return { token, user: { id: account.id, email, name: account.name } };
}

/** Counts a failure before the password is checked, so that attempts at the same time can't outrun the limits. */
async function countAttempt(services: Services, email: string, { ip }: Request) {
  const client = clientKey(ip);
  const address = `sign-in:${client}`;
  const pair = `${address}:${email}`;
  requireAllowed(await countCall(services, `sign-ins:${client}`, inAll), "sign-ins");
  requireAllowed(await countCall(services, pair, perAccount), "failed sign-ins");
  requireAllowed(await countCall(services, address, perAddress), "failed sign-ins");
  return {
    /** It was none: the account begins afresh. */
    forgive: async () => {
      await forgetCalls(services, pair);
      await uncountCall(services, address);
    },
    /** Nobody could tell. */
    takeBack: async () => {
      await uncountCall(services, pair);
      await uncountCall(services, address);
    },
  };
}

interface KnownAccount {
  id: string;
  name: string;
  passwordHash: string | null;
  organizationIds: string[];
}

/** The account and where it belongs, in one statement, for a known e-mail as for an unknown one. */
async function findAccount({ database }: Services, email: string): Promise<KnownAccount | null> {
  const rows = await database.db
    .select({
      id: users.id,
      name: users.name,
      passwordHash: users.passwordHash,
      organizationId: members.organizationId,
    })
    .from(users)
    .leftJoin(members, eq(members.userId, users.id))
    .where(eq(users.email, email));
  const [account] = rows;
  if (!account) return null;
  const { id, name, passwordHash } = account;
  return { id, name, passwordHash, organizationIds: rows.flatMap(({ organizationId }) => organizationId ?? []) };
}

/** The new session's token; null when the password was changed since it was checked. */
async function openSession(services: Services, account: KnownAccount, request: Request): Promise<string | null> {
  return services.database.transaction(async (tx) => {
    const unchanged = and(eq(users.id, account.id), eq(users.passwordHash, account.passwordHash ?? ""));
    // Locked: a change of the password ends the sessions that it finds, and must find this one.
    const [user] = await tx.select({ email: users.email }).from(users).where(unchanged).for("share");
    if (!user) return null;
    await recordSignIn(services, { email: user.email, account, request }, tx);
    return createSession(services, account.id, request, tx);
  });
}

interface Attempt {
  email: string;
  account: KnownAccount | null;
  request: Request;
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
