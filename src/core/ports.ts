import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { ProviderName } from "./providers.ts";

/** Time, owned by whoever composes the engine, so that a test can move it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `fn` once after `ms`; the returned function cancels it. */
  after(ms: number, fn: () => void): () => void;
}

type Fields = Record<string, unknown>;

/** Structured log: fields first, then a sentence. Implementations scrub what looks like a credential. */
export interface Log {
  debug(fields: Fields, message: string): void;
  info(fields: Fields, message: string): void;
  warn(fields: Fields, message: string): void;
  error(fields: Fields, message: string): void;
  child(fields: Fields): Log;
}

/** Which model, where, with which credential. Values come from the agent first, then from the environment. */
export interface ModelSpec {
  provider: ProviderName;
  model: string;
  baseUrl: string | undefined;
  apiKey: string | undefined;
}

/** Files that pages load, shipped beside the program. */
export interface Assets {
  /** The bytes of a file, or null when there is none of this name. */
  read(name: string): Promise<Uint8Array<ArrayBuffer> | null>;
}

export interface Models {
  /** The model of a spec; rejects with an `Error` for the log when the provider lacks its key or is not in this build. */
  resolve(spec: ModelSpec): Promise<LanguageModelV4>;
}

/** Password hashing, which takes tens of milliseconds of a core: where threads exist, it runs beside the event loop. */
export interface Passwords {
  /** The PHC string to store of a password. */
  hash(password: string): Promise<string>;
  /** Whether the password is the one behind `hash`; with null it takes as long and says no. */
  verify(hash: string | null, password: string): Promise<boolean>;
  /** The same for a bcrypt hash, the older form of a management key. */
  verifyBcrypt(hash: string, text: string): Promise<boolean>;
}
