import { argon2id, argon2Verify, bcryptVerify } from "hash-wasm";
import type { Passwords } from "../ports.ts";

/** The cost of an argon2id hash with one lane. */
interface Cost {
  /** In KiB. */
  memorySize: number;
  iterations: number;
}

/** OWASP's second choice for argon2id: 19 MiB, two passes, one lane. */
const usualCost: Cost = { memorySize: 19_456, iterations: 2 };

/** Normalizes a password: keyboards compose the same character in different ways, and each must open the account. */
const normalize = (password: string) => password.normalize("NFKC");

/** Whether two passwords open the same account. */
export const isSamePassword = (a: string, b: string): boolean => normalize(a) === normalize(b);

/** Hashes and verifies on the caller's own thread. */
export const passwords: Passwords = passwordsOf(usualCost);

/** `Passwords` with another cost. */
export function passwordsOf({ memorySize, iterations }: Cost): Passwords {
  const parameters = { memorySize, iterations, parallelism: 1, hashLength: 32 };
  // A hash that no password has: by checking it, an unknown account takes as long as a wrong password.
  const nobody = `$argon2id$v=19$m=${memorySize},t=${iterations},p=1$${"A".repeat(22)}$${"A".repeat(43)}`;
  return {
    hash: (password) => {
      const salt = crypto.getRandomValues(new Uint8Array(16));
      return argon2id({ ...parameters, salt, password: normalize(password), outputType: "encoded" });
    },
    verify: async (hash, password) => {
      const matches = await argon2Verify({ hash: hash ?? nobody, password: normalize(password) });
      return matches && hash !== null;
    },
    verifyBcrypt: (hash, text) => bcryptVerify({ hash, password: text }),
  };
}
