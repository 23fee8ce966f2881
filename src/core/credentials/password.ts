import { argon2id, argon2Verify, bcryptVerify } from "hash-wasm";
import type { Passwords } from "../ports.ts";

/** The cost of a hash by argon2id with one lane. */
interface Cost {
  /** In KiB. */
  memorySize: number;
  iterations: number;
}

/** OWASP's second choice for argon2id: 19 MiB, two passes, one lane. */
const usualCost: Cost = { memorySize: 19_456, iterations: 2 };

/** Keyboards compose one character in different ways; each way must open the same account. */
const normalize = (password: string) => password.normalize("NFKC");

/** Whether two passwords open the same account. */
export const isSamePassword = (a: string, b: string): boolean => normalize(a) === normalize(b);

/** Hashes and verifies on the caller's own thread. */
export const passwords: Passwords = passwordsOf(usualCost);

/** The same at another cost. */
export function passwordsOf({ memorySize, iterations }: Cost): Passwords {
  const parameters = { memorySize, iterations, parallelism: 1, hashLength: 32 };
  // No password has this hash: with it an unknown account takes as long as a wrong password.
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
