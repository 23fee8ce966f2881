import type { Services } from "../../context.ts";
import type { Contribution } from "../../contribution.ts";
import { verifyEncryptionKey } from "./encryption-key.ts";
import { secretRoutes } from "./routes.ts";

/** Shows at boot that the encryption key is the right one. */
export { verifyEncryptionKey } from "./encryption-key.ts";
/** Whether the encryption key is the right one and how much it sealed, without changing anything. */
export { inspectSecrets, type SecretsReport } from "./inspect.ts";
/** Re-seals everything under the current encryption key. */
export { rotateSecrets } from "./rotate.ts";
/** The name of the agent's own API key, and what such a key must look like. */
export { authKeyName, authKeyProblem } from "./rules.ts";
/** Secrets of an agent inside the transaction that changes it, how much it may keep, and opened for a turn. */
export { openSecrets, removeSecret, requireRoom, type SecretItem, saveSecrets, storedKeys } from "./store.ts";

/** `/api/instances/{slug}/secrets`. A start fails unless the encryption key is the right one. */
export function secretsFeature(services: Services): Contribution {
  return { routes: [secretRoutes], boot: () => verifyEncryptionKey(services) };
}
