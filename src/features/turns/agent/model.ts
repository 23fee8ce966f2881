import type { Services } from "../../../context/ctx.ts";
import { type ModelFacts, unconfigured } from "../../../core/models/facts.ts";
import { apiKeySecret, baseUrlSecret, isProviderName, type ProviderName } from "../../../core/models/providers.ts";
import { resolveModel } from "../../../core/models/resolve.ts";
import type { ProviderRole } from "../../../core/models/roles.ts";
import { usableKeys } from "../../../core/policies.ts";
import type { ModelSpec } from "../../../core/ports.ts";
import type { agents } from "../../../db/schema.ts";

/** The parts of an agent that decide its models. */
export interface ModelOwner {
  row: typeof agents.$inferSelect;
  secrets: ReadonlyMap<string, string>;
  inFirstOrganization: boolean;
}

/**
 * The model of an agent for a role, with its credentials, under the current policies; null for a role without one.
 * `named`, as `provider:model` or as a model of the agent's provider, replaces the agent's choice for `chat`.
 */
export function modelFor(services: Services, agent: ModelOwner, role: ProviderRole, named?: string): ModelSpec | null {
  const [answerer] = resolveModel(role, factsOf(services, agent), named).answerers;
  if (!answerer || !isProviderName(answerer.provider)) return null;
  return withCredentials(services, agent, answerer.provider, answerer.model);
}

/** The model that answers the agent's conversations. There always is one, since the built-in model needs no key. */
export function modelSpec(services: Services, agent: ModelOwner, named?: string): ModelSpec {
  const spec = modelFor(services, agent, "chat", named);
  if (!spec) throw new Error("No model answers for the agent");
  return spec;
}

function factsOf(services: Services, agent: ModelOwner): ModelFacts {
  const { provider, model, fastModel } = agent.row;
  return {
    ...unconfigured,
    own: { provider: provider !== null && isProviderName(provider) ? provider : null, model, fastModel },
    secrets: agent.secrets,
    environment: environmentOf(services, agent),
    defaultModel: services.policies.values.defaultModel,
  };
}

const environmentOf = ({ options, policies }: Services, agent: ModelOwner) =>
  usableKeys(policies.values, options.environmentKeys, agent.inFirstOrganization);

function withCredentials(services: Services, agent: ModelOwner, provider: ProviderName, model: string): ModelSpec {
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
