import type { Services } from "../../context/ctx.ts";
import type { Contribution } from "../../contribution.ts";
import { verifyEncryptionKey } from "./encryption-key.ts";
import { secretRoutes } from "./routes.ts";

/** Verifies at start that the encryption key opens the stored secrets. */
export { verifyEncryptionKey } from "./encryption-key.ts";
/** Deletes the stored values that no configured key opens. */
export { forgetSecrets } from "./forget.ts";
/** Whether the encryption key opens the stored secrets, and their number. Only reads. */
export { inspectSecrets, type SecretsReport } from "./inspect.ts";
/** Seals every stored secret again with the current encryption key. */
export { rotateSecrets } from "./rotate.ts";
/** The name of the agent's own API key, the rule for its value, and the keys with non-secret values. */
export { authKeyName, authKeyProblem, plainKeys } from "./rules.ts";
/** An agent's secrets: their values for a turn, and their storage inside a transaction that locked the agent. */
export { openSecrets, requireRoom, saveSecrets, storedKeys } from "./store.ts";

/** `/api/instances/{slug}/secrets`. A start fails with a wrong encryption key. */
export function secretsFeature(services: Services): Contribution {
  return { routes: [secretRoutes], boot: () => verifyEncryptionKey(services) };
}
