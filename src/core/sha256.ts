import { createSHA256 } from "hash-wasm";

export const sha256 = await createSHA256();
