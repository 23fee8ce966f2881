/** Signing in and out, the current user, and the setup of an installation. */

/** Makes the first owner with an organization and a workspace, unless there is an owner. */
export { bootstrapOwner, ownerExists } from "./owner.ts";
/** Gives a user a new password from the command line. */
export { type PasswordReset, resetPassword } from "./reset-password.ts";
/** `/api/setup`, `/api/auth`, `/api/me` and the setup page. */
export { accountRoutes } from "./routes.ts";
/** The name of a new account when the request gives none. */
export { nameOf } from "./rules.ts";
/** Opens a session and answers its token. */
export { createSession } from "./sessions.ts";
/** Issues the token of the link that sets an installation up. */
export { issueSetupToken } from "./setup.ts";
/** Upkeep: deletes expired sessions, links and throttle windows. */
export { tidyAccounts } from "./upkeep.ts";
