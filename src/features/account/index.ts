/** Signs in and out, the current user, and the page that sets an installation up. */

/** Makes the first owner, his organization and his workspace, unless there is an owner. */
export { bootstrapOwner, issueSetupToken, type NewOwner, type Owner, ownerExists } from "./owner.ts";
/** Gives a user a new password from the command line. */
export { type PasswordReset, resetPassword } from "./reset-password.ts";
export { accountRoutes } from "./routes.ts";
/** Opens a session and answers its token. */
export { createSession } from "./sessions.ts";
/** Upkeep: forgets sessions, links and throttle windows that are over. */
export { tidyAccounts } from "./upkeep.ts";
