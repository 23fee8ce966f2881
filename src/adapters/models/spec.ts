import { ProviderSetupError } from "../../core/errors.ts";
import {
  addressProblem,
  apiKeySecret,
  baseUrlSecret,
  isModelName,
  modelNameRule,
  providerAddresses,
} from "../../core/models/providers.ts";
import type { ModelSpec, ProviderSettings } from "../../core/ports.ts";

/** Throws for a model name that would change the request's path. */
export function checkModel({ provider, model }: ModelSpec): void {
  if (isModelName(model)) return;
  throw new ProviderSetupError(`The model of the provider ${provider} must have ${modelNameRule}`);
}

/**
 * The key of a spec; undefined when it has none. Throws for a key that is not valid in a header, since `fetch` would
 * repeat the key in its error.
 */
export function checkKey({ provider, apiKey }: ProviderSettings): string | undefined {
  const key = apiKey?.trim();
  if (!key) return undefined;
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new ProviderSetupError(`The key of the provider ${provider} holds characters that no key has`);
  return key;
}

/** The key of a spec. Throws when it has none. */
export function requireKey(spec: ProviderSettings): string {
  const key = checkKey(spec);
  if (key === undefined)
    throw new ProviderSetupError(
      `The provider ${spec.provider} has no key: set the secret ${apiKeySecret(spec.provider)}`,
    );
  return key;
}

/** The address of a spec, or else the provider's own, without a trailing slash. Throws for an unusable address. */
export function checkAddress({ provider, baseUrl = undefined }: ProviderSettings): string {
  const address = baseUrl?.trim() || providerAddresses[provider];
  if (address === undefined)
    throw new ProviderSetupError(`The provider ${provider} has no address: set the secret ${baseUrlSecret(provider)}`);
  const problem = addressProblem(address);
  if (problem !== null) throw new ProviderSetupError(`The address of the provider ${provider} ${problem}`);
  return address.replace(/\/+$/, "");
}

/** Appends the API's version unless the address contains one: the providers' own programs accept both forms. */
export function withVersion(address: string, version: string): string {
  return /\/v\d+[a-z]*\d*$/.test(address) ? address : `${address}/${version}`;
}
