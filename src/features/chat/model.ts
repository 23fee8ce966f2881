import type { Services } from "../../context.ts";
import type { ModelSpec } from "../../core/ports.ts";
import {
  apiKeySecret,
  baseUrlSecret,
  defaultModels,
  isProviderName,
  type ProviderName,
  providerNames,
} from "../../core/providers.ts";
import type { LiveAgent } from "./agent.ts";

/** Which model answers for an agent, and with which credentials. */
export function modelSpec({ options }: Services, { row, secrets }: LiveAgent): ModelSpec {
  const { provider, model } = chooseModel(row, secrets, options.environmentKeys);
  const keyName = apiKeySecret(provider);
  const baseUrl = secrets.get(baseUrlSecret(provider));
  // The environment's key goes to the environment's address only: an agent's own address must not collect it.
  if (baseUrl !== undefined) return { provider, model, baseUrl, apiKey: secrets.get(keyName) };
  return {
    provider,
    model,
    baseUrl: options.environmentKeys.get(baseUrlSecret(provider)),
    apiKey: secrets.get(keyName) ?? options.environmentKeys.get(keyName),
  };
}

type Keys = ReadonlyMap<string, string>;

function chooseModel(
  row: LiveAgent["row"],
  secrets: Keys,
  environment: Keys,
): { provider: ProviderName; model: string } {
  const { provider: named } = row;
  const provider = named !== null && isProviderName(named) ? named : firstConfigured(secrets, environment);
  return { provider, model: row.model ?? defaultModels[provider] ?? "default" };
}

/** The first provider that has a key and a model of its own to begin with, else the built-in one. */
function firstConfigured(secrets: Keys, environment: Keys): ProviderName {
  const hasKey = (provider: ProviderName) =>
    secrets.has(apiKeySecret(provider)) || environment.has(apiKeySecret(provider));
  return providerNames.find((provider) => defaultModels[provider] && hasKey(provider)) ?? "demo";
}
