import { ne } from "drizzle-orm";
import type { Services } from "../../context/ctx.ts";
import type { Contribution } from "../../contribution.ts";
import { accessTokens, oneTimeTokens, signInAddresses } from "../../db/schema.ts";
import { endedWindows } from "../../db/throttle.ts";
import type { OldRows } from "../../jobs/old-rows.ts";
import { appointFirstOwners } from "./platform-admins.ts";
import { resetLinks } from "./reset/mail.ts";
import { resetRoutes } from "./reset/routes.ts";
import { accountRoutes } from "./routes.ts";
import { knownAddressMs } from "./sign-in-limits.ts";
import { tokenRoutes } from "./tokens/routes.ts";

/** The organizations whose logs show the events of an account. */
export { organizationsOf } from "./audit.ts";
/**
 * Creates the first owner with an organization and a workspace, unless an owner exists; locks the row of the
 * installation.
 */
export { bootstrapOwner, lockInstallation, ownerExists } from "./owner.ts";
/** Makes a user a Platform Admin, or ends that; refuses to do without the last one. */
export {
  changePlatformAdmin,
  type PlatformAdminChange,
  requireOtherPlatformAdmin,
  setPlatformAdmin,
} from "./platform-admins.ts";
/** Sets a user's password, as the command line does too, and ends all sessions of a user. */
export { deleteSessionsOf, type PasswordReset, replacePassword, resetPassword } from "./replace-password.ts";
/** Deletes the links to reset a user's password. */
export { deleteResetLinks } from "./reset/links.ts";
/** The responses to ending sessions and to changes without a body. */
export { EndedSessions, Success } from "./schema.ts";
/** Opens a session and returns its token; tells whether a session is live; ends impersonations. */
export { createSession, endImpersonations, isLive } from "./sessions.ts";
/** Issues the token of the link that sets an installation up. */
export { issueSetupToken } from "./setup.ts";
/** The default name of a new account, and the signed-in person of a request. */
export { nameOf, userOf } from "./user.ts";

/**
 * The routes of sign-in, of the current user, of personal tokens, of forgotten passwords and of the installation's setup;
 * the first Platform Admins; the deletion of expired sessions, tokens, links and throttle windows.
 */
export function accountFeature(services: Services): Contribution {
  return {
    routes: [accountRoutes, tokenRoutes, resetRoutes],
    jobs: resetLinks(services),
    oldRows: [...expired, endedWindows],
    boot: () => appointFirstOwners(services),
  };
}

/** Expired management keys are not deleted: they stay on their list. */
const expired: OldRows[] = [
  { table: accessTokens, since: accessTokens.expiresAt, afterMs: 0, where: ne(accessTokens.kind, "management") },
  { table: oneTimeTokens, since: oneTimeTokens.expiresAt, afterMs: 0 },
  { table: signInAddresses, since: signInAddresses.usedAt, afterMs: knownAddressMs },
];
