import { asc, eq } from "drizzle-orm";
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
  const address = `sign-in:${clientKey(request.ip)}`;
  const pair = `${address}:${email}`;
  const { database } = services;
  // Counted before the password is checked, so that attempts at the same time can't outrun the limit.
  requireAllowed(await countCall(services, pair, perAccount), attempts);
  requireAllowed(await countCall(services, address, perAddress), attempts);

  const account = await findAccount(services, email);
  const right = await services.passwords.verify(account?.passwordHash ?? null, password);
  if (!account || !right) {
    await recordEvent(database.db, {
      action: "session.create",
      actor: account ?? null,
      target: email,
      request,
      organizationId: account?.organizationId ?? null,
      success: false,
    });
    throw new EngineError("unauthorized", "Wrong e-mail or password");
  }
  await forgetCalls(services, pair);
  await uncountCall(services, address);
  const { id, name, organizationId } = account;
  const token = await database.transaction(async (tx) => {
    await recordEvent(tx, { action: "session.create", actor: account, target: email, request, organizationId });
    return createSession(services, id, request, tx);
  });
  return { token, user: { id, email, name } };
}

const attempts = "failed sign-ins";

/** The account, and the organization whose audit log a sign-in belongs to. */
async function findAccount({ database }: Services, email: string) {
  const [account] = await database.db
    .select({
      id: users.id,
      name: users.name,
      passwordHash: users.passwordHash,
      organizationId: members.organizationId,
    })
    .from(users)
    .leftJoin(members, eq(members.userId, users.id))
    .where(eq(users.email, email))
    .orderBy(asc(members.createdAt), asc(members.organizationId))
    .limit(1);
  return account;
}
