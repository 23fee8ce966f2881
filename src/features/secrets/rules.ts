import { tokenKind } from "../../core/credentials/tokens.ts";
import { s3Places, s3Problem, s3Secrets } from "../../core/files/s3.ts";
import {
  addressProblem,
  apiKeySecret,
  baseUrlSecret,
  type ProviderName,
  providerNames,
} from "../../core/models/providers.ts";
import type { Plugin, PluginSecret } from "../../core/plugins/plugin.ts";
import { declaredSecrets } from "../../core/plugins/plugins.ts";
import { shortSecretProblem } from "../../core/scrub/scrub.ts";
import { keyPairProblem } from "../../core/tracing.ts";

/** The agent's own chat API key. */
export const authKeyName = "auth_api_key";

/** The key of the agent's project in the tracing backend. */
const tracingKeyName = "tracing_api_key";

const withKey: readonly ProviderName[] = ["openai", "anthropic", "google", "mistral", "openai-compatible"];
/** Providers that are called over the network. */
export const withAddress = providerNames.filter((name) => name !== "demo");

/** Keys listed for every agent, stored or not, in this order (decisions §4). */
export const wellKnown: readonly string[] = [
  authKeyName,
  tracingKeyName,
  ...withKey.map(apiKeySecret),
  ...withAddress.map(baseUrlSecret),
  ...s3Secrets,
];

const addresses: ReadonlySet<string> = new Set(withAddress.map(baseUrlSecret));

/** The shortest new key, since shorter ones can be guessed. Shorter stored ones still work. */
export const shortestAuthKey = 16;

/** Why an agent can't have this API key; null when it can. */
export function authKeyProblem(value: string): string | null {
  if (value.trim() === "") return "must not be blank";
  // The `Authorization` header would change or lose other characters.
  if (!/^[\x21-\x7e]+$/.test(value)) return "must be printable ASCII without spaces";
  if (tokenKind(value) !== null) return "must not begin like a management key, a session or a token";
  return value.length < shortestAuthKey
    ? `must have at least ${shortestAuthKey} characters, so that nobody guesses it`
    : null;
}

/**
 * Why this value can't be stored with this key; null when it can. `declared` is the plugins' declaration of the key. An
 * empty value is always accepted, since it is skipped.
 */
export function secretProblem(key: string, value: string, declared?: PluginSecret): string | null {
  if (value === "") return null;
  if (key === authKeyName) return authKeyProblem(value);
  if (key === tracingKeyName) return keyPairProblem(value);
  if (addresses.has(key)) return addressProblem(value.trim());
  const { choices } = declared ?? {};
  if (choices && !choices.includes(value)) return `must be one of: ${choices.join(", ")}`;
  return s3Problem(key, value) ?? (isSetting(key, declared) ? null : shortSecretProblem(value));
}

/** Whether ordinary replies may contain the value, such as an address, a region, or a plugin's setting. */
const isSetting = (key: string, declared: PluginSecret | undefined) =>
  key.endsWith("_base_url") || s3Places.has(key) || isPlain(key, declared);

/** Whether the value is no secret; a plugin can't declare that for a secret of the engine. */
const isPlain = (key: string, declared: PluginSecret | undefined) =>
  declared?.sensitive === false && !wellKnown.includes(key);

/** The keys of agents' secrets whose values may be in replies, including plugins' settings. */
export function plainKeys(plugins: readonly Plugin[]): ReadonlySet<string> {
  const settings = [...declaredSecrets(plugins)].filter(([key, declared]) => isPlain(key, declared));
  return new Set([...s3Places, ...settings.map(([key]) => key)]);
}

/** The AAD of a sealed value: in another row the same bytes do not open. */
export const secretPlace = (ownerId: string, key: string) => `${ownerId}:${key}`;
