import { type Check, fail, ok, warn } from "../../../core/check.ts";
import type { SecretsReport } from "../../secrets/index.ts";
import { named } from "./named.ts";

/** Checks whether the encryption key opens what is stored. `command` is how this program is called. */
export function checkKey({ key, sealed, older }: SecretsReport, command: string): Check {
  const name = "encryption key";
  if (key === "wrong") {
    const advice = "set that one, or name it in ENCRYPTION_KEY_PREVIOUS";
    return fail(name, `Not the key that this database's secrets were sealed with: ${advice}`);
  }
  if (key === "unused") return ok(name, "Nothing is sealed yet");
  if (older > 0)
    return warn(name, `${older} of ${sealed} values are sealed with an earlier key: run ${command} rotate-key`);
  return ok(name, `Opens what is stored; ${sealed} ${sealed === 1 ? "value is" : "values are"} sealed with it`);
}

/** A check for secrets that replies may show. */
export function checkShortSecrets({ short }: SecretsReport): Check[] {
  if (short.length === 0) return [];
  return [
    warn(
      "secrets",
      `Too short to be kept out of replies, in ${named(short)}: store secrets and variables of at least 6 characters instead`,
    ),
  ];
}
