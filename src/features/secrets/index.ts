import type { Services } from "../../context/ctx.ts";
import type { Contribution } from "../../contribution.ts";
import { verifyEncryptionKey } from "./encryption-key.ts";
import { secretRoutes } from "./routes.ts";

/** Shows at boot that the encryption key is the one that sealed the stored secrets. */
export { verifyEncryptionKey } from "./encryption-key.ts";
/** Drops the stored values that no configured key opens. */
export { forgetSecrets } from "./forget.ts";
/** Whether the encryption key is the one of the stored secrets, and how many there are. Only reads. */
export { inspectSecrets, type SecretsReport } from "./inspect.ts";
/** Re-seals every stored secret under the current encryption key. */
export { rotateSecrets } from "./rotate.ts";
/** The name of the agent's own API key, the rule for its value, and the keys whose values are no secret. */
export { authKeyName, authKeyProblem, plainKeys } from "./rules.ts";
/** The values of an agent's secrets, for a turn. */
/** Secrets of an agent: changed inside a transaction that locked it, and bounded in size. */
export { openSecrets, requireRoom, saveSecrets, storedKeys } from "./store.ts";

/** `/api/instances/{slug}/secrets`. A start fails unless the encryption key is the right one. */
export function secretsFeature(services: Services): Contribution {
  return { routes: [secretRoutes], boot: () => verifyEncryptionKey(services) };
}
