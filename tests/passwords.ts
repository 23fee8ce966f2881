import { passwordsOf } from "../src/core/credentials/password.ts";

/** The server's own hashes at the least cost: the usual one takes longer than most of a test. */
export const passwords = passwordsOf({ memorySize: 8, iterations: 1 });
