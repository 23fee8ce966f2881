import { and, eq, gt, ne } from "drizzle-orm";
import type { Services } from "../../context/ctx.ts";
import { EngineError } from "../../core/errors.ts";
import { type Limit, requireAllowed } from "../../core/limits/throttle.ts";
import type { Db } from "../../db/client.ts";
import { members, signInAddresses, users } from "../../db/schema.ts";
import { countWatched, forgetCalls, uncountCall } from "../../db/throttle.ts";
import { clientKey, networkKey } from "../../http/callers/address.ts";
import { oldestFirst, recordEvent } from "./audit.ts";
import type { Client } from "./sessions.ts";

export interface KnownAccount {
  id: string;
  name: string;
  passwordHash: string | null;
  /** Whether the user may sign in. */
  active: boolean;
  /** The organizations, in the order of joining. */
  organizationIds: string[];
}

/** The account of an e-mail with its organizations. Known and unknown e-mails take the same single statement. */
export async function findAccount({ database }: Services, email: string): Promise<KnownAccount | null> {
  const rows = await database.db
    .select({
      id: users.id,
      name: users.name,
      passwordHash: users.passwordHash,
      active: users.active,
      organizationId: members.organizationId,
    })
    .from(users)
    .leftJoin(members, eq(members.userId, users.id))
    .where(eq(users.email, email))
    .orderBy(...oldestFirst);
  const [account] = rows;
  if (!account) return null;
  const { id, name, passwordHash, active } = account;
  return {
    id,
    name,
    passwordHash,
    active,
    organizationIds: rows.flatMap(({ organizationId }) => organizationId ?? []),
  };
}

const windowMs = 15 * 60 * 1000;
/** The most failed sign-ins of one account from one address. A stranger at another address can't lock the account. */
const perAccount: Limit = { calls: 10, windowMs };
/** The most failed sign-ins of one account from all addresses. */
const perAccountInAll: Limit = { calls: 50, windowMs: 60 * 60 * 1000 };
/** The most failed sign-ins of all accounts from one address. */
const perAddress: Limit = { calls: 50, windowMs };
/** The most failed sign-ins from an IPv6 /48. Its holder has 65,536 /64s, each of which counts as one address. */
const perNetwork: Limit = { calls: 500, windowMs };
/** The most sign-ins from one address, including successful ones, because each costs a hash. */
const inAll: Limit = { calls: 100, windowMs };

/** How long an address stays known to an account after its last right password from there. */
export const knownAddressMs = 90 * 24 * 60 * 60 * 1000;

/** The throttle key of an account's failures from all addresses. */
export const accountFailures = (email: string) => `failed-sign-ins:${email}`;

/** A sign-in request. */
export interface SignInRequest extends Client {
  id: string;
}

interface Attempt {
  email: string;
  request: SignInRequest;
}

/** One limit with its count for an attempt. */
interface Count {
  key: string;
  limit: Limit;
  what: "sign-ins" | "failed sign-ins";
  /** The target that the limit protects: an address, or an account at an address. */
  target: string;
}

/**
 * Counts a failed sign-in before the password is checked, so that simultaneous attempts can't exceed the limits. Throws
 * the 429.
 */
export async function countAttempt(services: Services, attempt: Attempt) {
  const { email, request } = attempt;
  const client = clientKey(request.ip);
  const network = networkKey(request.ip);
  const address = `sign-in:${client}`;
  const pair = `${address}:${email}`;
  const shared = [
    { key: address, limit: perAddress, what: "failed sign-ins" as const, target: client },
    ...(network === null
      ? []
      : [{ key: `sign-in:${network}`, limit: perNetwork, what: "failed sign-ins" as const, target: network }]),
  ];
  await count(services, attempt, { key: `sign-ins:${client}`, limit: inAll, what: "sign-ins", target: client });
  await count(services, attempt, { key: pair, limit: perAccount, what: "failed sign-ins", target: email });
  for (const one of shared) await count(services, attempt, one);
  await countOfAccount(services, attempt, client);
  const takeBackShared = async () => {
    for (const key of [...shared.map(({ key }) => key), accountFailures(email)]) await uncountCall(services, key);
  };
  return {
    /** Undoes the count after a right password, and deletes the account's earlier failures from this address. */
    forgive: async () => {
      await forgetCalls(services, pair);
      await takeBackShared();
    },
    /** Undoes the count when the password could not be checked. */
    takeBack: async () => {
      await uncountCall(services, pair);
      await takeBackShared();
    },
  };
}

/**
 * Adds the failure to the account's count over all addresses. Throws a 429 above the limit, but not for an address from
 * which the account signed in before: a stranger's failures must not lock its holder out.
 */
async function countOfAccount(services: Services, attempt: Attempt, client: string): Promise<void> {
  const { email } = attempt;
  const limited = {
    key: accountFailures(email),
    limit: perAccountInAll,
    what: "failed sign-ins",
    target: email,
  } as const;
  try {
    await count(services, attempt, limited);
  } catch (error) {
    const refused = error instanceof EngineError && error.code === "rate-limited";
    if (!refused || !(await isKnownAddress(services, email, client))) throw error;
  }
}

async function isKnownAddress({ database, clock }: Services, email: string, client: string): Promise<boolean> {
  const [known] = await database.db
    .select({ client: signInAddresses.client })
    .from(signInAddresses)
    .innerJoin(users, eq(users.id, signInAddresses.userId))
    .where(
      and(
        eq(users.email, email),
        eq(signInAddresses.client, client),
        gt(signInAddresses.usedAt, new Date(clock.now() - knownAddressMs)),
      ),
    );
  return known !== undefined;
}

/** Stores the address of a right password. */
export async function rememberAddress({ clock }: Services, tx: Db, userId: string, ip: string): Promise<void> {
  const usedAt = new Date(clock.now());
  await tx
    .insert(signInAddresses)
    .values({ userId, client: clientKey(ip), usedAt })
    .onConflictDoUpdate({ target: [signInAddresses.userId, signInAddresses.client], set: { usedAt } });
}

/** Deletes the addresses that signed in with the former password. The address of the request that changes it stays. */
export async function forgetAddresses(tx: Db, userId: string, kept?: { ip: string }): Promise<void> {
  const others = kept && ne(signInAddresses.client, clientKey(kept.ip));
  await tx.delete(signInAddresses).where(and(eq(signInAddresses.userId, userId), others));
}

/**
 * Counts an attempt; throws the 429. Only the first refusal of a window writes an audit entry, so that an attack can't
 * flood the log.
 */
async function count(services: Services, attempt: Attempt, { key, limit, what, target }: Count): Promise<void> {
  const { result, firstRefusal } = await countWatched(services, key, limit);
  if (firstRefusal) {
    // The limit of an address belongs to no account, so its entry goes to the installation's log.
    const account = target === attempt.email ? await findAccount(services, attempt.email) : null;
    await recordEvent(services.database.db, {
      action: "session.create",
      actor: account,
      target,
      request: attempt.request,
      organizationIds: account?.organizationIds ?? [],
      success: false,
      summary: { refused: what, limit: limit.calls },
    });
  }
  requireAllowed(result, what);
}
