import type { Services } from "../../context/ctx.ts";
import type { Contribution } from "../../contribution.ts";
import { verifyEncryptionKey } from "./encryption-key.ts";
import { secretRoutes } from "./routes.ts";

/** Verifies at the start that the encryption key opens the stored secrets. */
export { verifyEncryptionKey } from "./encryption-key.ts";
/** Deletes the stored values that no configured key opens. */
export { forgetSecrets } from "./forget.ts";
/** Whether the encryption key opens the stored secrets, and their number. Only reads. */
export { inspectSecrets, type SecretsReport } from "./inspect.ts";
/** Seals every stored secret again with the current encryption key. */
export { rotateSecrets } from "./rotate.ts";
/** The name of the agent's API key, the rule for its value, and the keys whose values are no secrets. */
export { authKeyName, authKeyProblem, plainKeys } from "./rules.ts";
/** An agent's secrets: their values for a turn, and their storage in a transaction that locked the agent. */
export { openSecrets, requireRoom, saveSecrets, storedKeys } from "./store.ts";

/** `/api/instances/{slug}/secrets`. With a wrong encryption key the start fails. */
export function secretsFeature(services: Services): Contribution {
  return { routes: [secretRoutes], boot: () => verifyEncryptionKey(services) };
}
