import { argon2id, argon2Verify, bcryptVerify } from "hash-wasm";
import type { Passwords } from "../ports.ts";

/** OWASP's second choice for argon2id: 19 MiB, two passes, one lane. */
const cost = { memorySize: 19_456, iterations: 2, parallelism: 1, hashLength: 32 } as const;

/** A hash of the same cost that no password has: with it an unknown account takes as long as a wrong password. */
const nobody = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/** Keyboards compose one character in different ways; each way must open the same account. */
const normalize = (password: string) => password.normalize("NFKC");

/** Whether two passwords open the same account. */
export const isSamePassword = (a: string, b: string): boolean => normalize(a) === normalize(b);

/** Hashes and verifies on the caller's own thread. */
export const passwords: Passwords = {
  hash: (password) => {
    const salt = crypto.getRandomValues(new Uint8Array(16));
    return argon2id({ ...cost, salt, password: normalize(password), outputType: "encoded" });
  },
  verify: async (hash, password) => {
    const matches = await argon2Verify({ hash: hash ?? nobody, password: normalize(password) });
    return matches && hash !== null;
  },
  verifyBcrypt: (hash, text) => bcryptVerify({ hash, password: text }),
};
