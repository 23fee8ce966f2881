import type { Cipher } from "../../../core/credentials/cipher.ts";
import { openConfig, type SealedConfig } from "../row.ts";

/** The sealed part of the channel `web`. Its key is stored as a secret, its authentication as a field of the agent. */
export interface WebConfig {
  /** Conversation-state key → dotted path in the request's context. */
  contextMapping: Readonly<Record<string, string>>;
  /** Origins as browsers send them, or `*`. */
  allowedOrigins: readonly string[];
}

/** The stored configuration of an agent's channel `web`; empty without a row. */
export async function openWebConfig(cipher: Cipher, agentId: string, row: SealedConfig | null): Promise<WebConfig> {
  return {
    contextMapping: {},
    allowedOrigins: [],
    ...(await openConfig<Partial<WebConfig>>(cipher, agentId, "web", row)),
  };
}
