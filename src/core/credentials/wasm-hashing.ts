import { argon2id, bcryptVerify } from "hash-wasm";
import { createPasswords, type Hashing } from "./password.ts";

/** Hashing that runs everywhere, on the caller's own thread. */
export const wasmHashing: Hashing = {
  argon2id: (password, salt, { memory, passes, lanes }) =>
    argon2id({
      password,
      salt,
      memorySize: memory,
      iterations: passes,
      parallelism: lanes,
      hashLength: 32,
      outputType: "binary",
    }),
  bcryptVerify: (hash, password) => bcryptVerify({ hash, password }),
};

export const passwords = createPasswords(wasmHashing);
