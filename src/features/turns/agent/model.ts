import type { Services } from "../../../context/ctx.ts";
import {
  apiKeySecret,
  baseUrlSecret,
  defaultModels,
  isProviderName,
  type ProviderName,
  providerNames,
  splitModel,
} from "../../../core/models/providers.ts";
import { usableKeys } from "../../../core/policies.ts";
import type { ModelSpec } from "../../../core/ports.ts";
import type { agents } from "../../../db/schema.ts";

/** The parts of an agent that decide its model. */
export interface ModelOwner {
  row: typeof agents.$inferSelect;
  secrets: ReadonlyMap<string, string>;
  inFirstOrganization: boolean;
}

/**
 * The agent's model with its credentials, under the current policies. `named`, as `provider:model` or as a model of the
 * agent's provider, replaces the agent's choice.
 */
export function modelSpec(services: Services, agent: ModelOwner, named?: string): ModelSpec {
  const environment = environmentOf(services, agent);
  const own = chooseModel(agent, environment, services.policies.values.defaultModel);
  if (named === undefined) return withCredentials(services, agent, own);
  const { provider, model } = splitModel(named);
  return withCredentials(services, agent, { provider: provider ?? own.provider, model });
}

/** The model for an agent's background work; null for an agent without a `fastModel` of its own (decisions §4). */
export function fastModelSpec(services: Services, agent: ModelOwner): ModelSpec | null {
  if (agent.row.fastModel === null) return null;
  return modelSpec(services, agent, agent.row.fastModel);
}

const environmentOf = ({ options, policies }: Services, agent: ModelOwner) =>
  usableKeys(policies.values, options.environmentKeys, agent.inFirstOrganization);

function withCredentials(services: Services, agent: ModelOwner, { provider, model }: Choice): ModelSpec {
  const { secrets } = agent;
  const environment = environmentOf(services, agent);
  const keyName = apiKeySecret(provider);
  const baseUrl = secrets.get(baseUrlSecret(provider));
  // The environment's key is only for the environment's address: an agent's own address could collect it.
  if (baseUrl !== undefined) {
    const { httpAllowedHosts: allowedHosts } = services.policies.values;
    return { provider, model, baseUrl, apiKey: secrets.get(keyName), allowedHosts };
  }
  return {
    provider,
    model,
    baseUrl: environment.get(baseUrlSecret(provider)),
    apiKey: secrets.get(keyName) ?? environment.get(keyName),
  };
}

type Keys = ReadonlyMap<string, string>;

interface Choice {
  provider: ProviderName;
  model: string;
}

/** The agent's choice, else the installation's default, else that of the first provider with a key. */
function chooseModel({ row, secrets }: ModelOwner, environment: Keys, defaultModel: string | null): Choice {
  const named = row.provider !== null && isProviderName(row.provider) ? row.provider : null;
  const preset = defaultModel === null ? null : splitModel(defaultModel);
  const provider = named ?? preset?.provider ?? firstConfigured(secrets, environment);
  const usual = preset?.provider === provider ? preset.model : defaultModels[provider];
  return { provider, model: row.model ?? usual ?? "default" };
}

/** The first provider with a key and a default model, else the built-in `demo`. */
function firstConfigured(secrets: Keys, environment: Keys): ProviderName {
  const hasKey = (provider: ProviderName) =>
    secrets.has(apiKeySecret(provider)) || environment.has(apiKeySecret(provider));
  return providerNames.find((provider) => defaultModels[provider] && hasKey(provider)) ?? "demo";
}
