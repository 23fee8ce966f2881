import type { LanguageModelV4 } from "@ai-sdk/provider";

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
  provider: string;
  model: string;
  baseUrl: string | undefined;
  apiKey: string | undefined;
}

/** Makes language models out of specs; throws `EngineError` for a provider it does not know or that lacks its key. */
export interface Models {
  resolve(spec: ModelSpec): LanguageModelV4;
  /** Whether this build knows the provider. */
  has(provider: string): boolean;
  providers(): readonly string[];
}
