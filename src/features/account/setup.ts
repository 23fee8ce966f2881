import type { Services } from "../../context/ctx.ts";
import { EngineError } from "../../core/errors.ts";
import { digest } from "../../core/ids.ts";
import type { Limit } from "../../core/limits/throttle.ts";
import { oneTimeTokens } from "../../db/schema.ts";
import { countCall } from "../../db/throttle.ts";
import { recordEvent } from "./audit.ts";
import { issueToken, isUsable } from "./one-time-tokens.ts";
import { firstOwner, insertOwner, lockInstallation, type NewOwner, ownerExists } from "./owner.ts";
import type { Account } from "./schema.ts";

const setupTokenMs = 24 * 60 * 60 * 1000;

/** Limits the entries about wrong links: anybody can try links, and the log must not grow with each attempt. */
const noted: Limit = { calls: 1, windowMs: 60_000 };

/** Issues the token of a one-time setup link, valid for 24 hours. */
export function issueSetupToken(services: Services): Promise<string> {
  return issueToken(services, services.database.db, { kind: "setup", lifeMs: setupTokenMs });
}

/** The state of a setup link: `ready`, `invalid` (unknown, used, expired), or `installed` once an owner exists. */
export async function readSetupToken(services: Services, token: string): Promise<"ready" | "invalid" | "installed"> {
  const [row] = await services.database.db
    .select({ id: oneTimeTokens.id })
    .from(oneTimeTokens)
    .where(isUsable(services, "setup", await digest(token)));
  // The owner is read last, since the link may be used meanwhile.
  if (await ownerExists(services)) return "installed";
  return row ? "ready" : "invalid";
}

interface Request {
  id: string;
  ip: string;
  userAgent?: string;
}

interface SetUpAccount {
  user: Account;
  organization: { slug: string };
}

/** Creates the first owner for the holder of the setup link. Of simultaneous requests only one succeeds. */
export async function setUp(
  services: Services,
  token: string,
  owner: NewOwner,
  request: Request,
): Promise<SetUpAccount> {
  try {
    return await makeOwner(services, token, owner, request);
  } catch (error) {
    if (error instanceof EngineError && error.code === "unauthorized") await recordFailedSetup(services, request);
    throw error;
  }
}

/** Creates the owner. Throws the 401 for an invalid link and the 409 when an owner exists. */
async function makeOwner(services: Services, token: string, owner: NewOwner, request: Request): Promise<SetUpAccount> {
  const state = await readSetupToken(services, token);
  if (state === "installed") throw installed();
  if (state === "invalid") throw invalidLink();
  const passwordHash = await services.passwords.hash(owner.password);
  const tokenDigest = await digest(token);
  return services.database.transaction(async (tx) => {
    await lockInstallation(tx);
    if (await firstOwner(tx)) throw installed();
    const used = { usedAt: new Date(services.clock.now()) };
    const unused = isUsable(services, "setup", tokenDigest);
    const spent = await tx.update(oneTimeTokens).set(used).where(unused).returning();
    if (spent.length === 0) throw invalidLink();
    const made = await insertOwner(tx, services, owner, passwordHash);
    const user = { id: made.userId, email: owner.email, name: made.name };
    await recordEvent(tx, {
      action: "installation.setup",
      actor: user,
      target: user.email,
      request,
      organizationIds: [made.organizationId],
    });
    return { user, organization: { slug: made.organizationSlug } };
  });
}

const installed = () =>
  new EngineError("conflict", "This installation already has an owner: sign in, or ask the owner for an account");
const invalidLink = () =>
  new EngineError("unauthorized", "This setup link is not valid any more: restart the server to get a new one");

/** Notes a wrong setup link in the installation's log, at most once a minute. */
export async function recordFailedSetup(services: Services, request: Request): Promise<void> {
  const { allowed } = await countCall(services, "setup-failure", noted);
  if (!allowed) return;
  await recordEvent(services.database.db, {
    action: "installation.setup",
    actor: null,
    target: "setup link",
    request,
    organizationIds: [],
    success: false,
  });
}
