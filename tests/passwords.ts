import { passwordsOf } from "../src/core/credentials/password.ts";

/** The server's own hashes at the least cost: the usual one takes longer than most of what a test does. */
export const passwords = passwordsOf({ memorySize: 8, iterations: 1 });
