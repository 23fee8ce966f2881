import { isMask } from "../../../core/credentials/masks.ts";
import type { KnownConnection } from "../../../core/models/facts.ts";
import { type ConnectionProvider, originOf, providerAddresses } from "../../../core/models/providers.ts";
import { shortSecretProblem } from "../../../core/scrub/scrub.ts";
import type { providerConnections } from "../../../db/schema.ts";
import type { ConnectionChanges, NewConnection } from "./schema.ts";

export type ConnectionRow = typeof providerConnections.$inferSelect;

/** The AAD of a connection's sealed key. */
export const keyPlace = (id: string) => `provider_connections:${id}`;

/** A stored connection for `ModelFacts`. */
export function toKnown({ id, name, provider, ...row }: Omit<ConnectionRow, "ciphertext">): KnownConnection {
  return {
    id,
    name,
    provider,
    hasKey: row.keyId !== null,
    hasAddress: row.baseUrl !== null,
    enabled: row.enabled,
    shared: row.agentId === null,
    isDefault: row.isDefault,
  };
}

/** The key of a request: a new one, null to delete the stored one, or undefined to keep it. */
export function newKey(apiKey: string | null | undefined): string | null | undefined {
  if (typeof apiKey !== "string") return apiKey;
  const key = apiKey.trim();
  return key === "" || isMask(key) ? undefined : key;
}

/**
 * Whether a key that was stored for an address may not be sent to another one: people who may change connections may not
 * read their keys.
 */
export function leavesOrigin(provider: ConnectionProvider, before: string | null, after: string | null): boolean {
  const own = providerAddresses[provider];
  return originOf(before ?? own) !== originOf(after ?? own);
}

interface Problem {
  path: [string];
  message: string;
}

const withoutOwnAddress: readonly ConnectionProvider[] = ["ollama", "openai-compatible"];

/** The problems of a connection as a request would store it. */
export function problemsOf(
  { provider, baseUrl, isDefault }: Pick<NewConnection, "provider" | "baseUrl" | "isDefault">,
  { apiKey }: Pick<ConnectionChanges, "apiKey">,
  shared: boolean,
): Problem[] {
  const problems: Problem[] = [];
  const add = (field: string, message: string | null) => message && problems.push({ path: [field], message });
  if (baseUrl === null && withoutOwnAddress.includes(provider)) {
    add("baseUrl", `must be given for ${withoutOwnAddress.join(" and ")}`);
  }
  if (isDefault && !shared) add("isDefault", "only a shared connection can be the default");
  add("apiKey", keyProblem(newKey(apiKey)));
  return problems;
}

function keyProblem(key: string | null | undefined): string | null {
  if (typeof key !== "string") return null;
  // A header could not carry other characters.
  return /^[\x21-\x7e]+$/.test(key) ? shortSecretProblem(key) : "must be visible ASCII characters";
}
