import type { Services } from "../../../context/ctx.ts";
import { EngineError } from "../../../core/errors.ts";
import type { Answerer, ModelFacts, Unusable } from "../../../core/models/facts.ts";
import type { Prices } from "../../../core/models/prices.ts";
import { apiKeySecret, baseUrlSecret, isProviderName } from "../../../core/models/providers.ts";
import { resolveModel } from "../../../core/models/resolve.ts";
import type { ProviderRole } from "../../../core/models/roles.ts";
import { usableKeys } from "../../../core/policies.ts";
import type { ModelSpec } from "../../../core/ports.ts";
import type { agents } from "../../../db/schema.ts";
import type { AgentProviders } from "./providers.ts";

/** The parts of an agent that decide its models. */
export interface ModelOwner {
  row: typeof agents.$inferSelect;
  secrets: ReadonlyMap<string, string>;
  inFirstOrganization: boolean;
  providers: AgentProviders;
  /** Null: costs are not computed. */
  prices: Prices | null;
}

/** A model with its credentials. */
export interface AnsweringModel {
  spec: ModelSpec;
  /** The connection whose address and key it uses; null for those of a secret or of the environment. */
  connection: { id: string; name: string } | null;
}

/** At least one model. */
export type AnsweringModels = readonly [AnsweringModel, ...AnsweringModel[]];

/** The models that answer for a role. */
export interface Answering {
  /** In the order in which they are tried; empty when none may answer. */
  models: readonly AnsweringModel[];
  /** The model that is configured to answer, usable or not; null where none is. */
  wanted: Pick<Answerer, "provider" | "model"> | null;
  /** Why `wanted` may not answer; null when it may. */
  reason: Unusable | null;
}

/**
 * The models of an agent for a role, with their credentials, under the current policies. `named`, as `provider:model`
 * or as a model of the agent's provider, replaces the agent's choice for `chat`.
 */
export function answeringFor(services: Services, agent: ModelOwner, role: ProviderRole, named?: string): Answering {
  const { answerers, wanted, reason } = resolveModel(role, factsOf(services, agent), named);
  const models = answerers.flatMap(({ provider, model, connection, bySecrets }): AnsweringModel[] => {
    if (!isProviderName(provider)) return [];
    const named = { provider, model };
    if (!connection) return [{ spec: bySettings(services, agent, named, bySecrets), connection }];
    const { id, name } = connection;
    return [{ spec: byConnection(services, agent, named, id), connection: { id, name } }];
  });
  return { models, wanted, reason };
}

/** The message for a caller of an agent whose configured model may not answer. */
export const unusableConnection = "The agent's provider connection is not usable";

/** The models that answer. Throws the 503 of an agent whose configured model may not. */
export function requireUsable({ models: [first, ...others] }: Answering): AnsweringModels {
  if (!first) throw new EngineError("unavailable", unusableConnection);
  return [first, ...others];
}

/** The provider and model of a turn as it begins, also of one that none may answer. */
export function firstModel({ models: [first], wanted }: Answering): { provider: string; model: string } {
  return first?.spec ?? wanted ?? { provider: "none", model: "none" };
}

/** Whether the agent has a model for background work. */
export const hasFastModel = ({ row, providers }: ModelOwner) =>
  row.fastModel !== null || providers.bindings.fast !== undefined;

function factsOf(services: Services, agent: ModelOwner): ModelFacts {
  const { provider, model, fastModel } = agent.row;
  return {
    ...agent.providers,
    own: { provider: provider !== null && isProviderName(provider) ? provider : null, model, fastModel },
    secrets: agent.secrets,
    environment: environmentOf(services, agent),
    defaultModel: services.policies.values.defaultModel,
  };
}

type NamedModel = Pick<ModelSpec, "provider" | "model">;

const noSecrets: ReadonlyMap<string, string> = new Map();

const environmentOf = ({ options, policies }: Services, agent: ModelOwner) =>
  usableKeys(policies.values, options.environmentKeys, agent.inFirstOrganization);

function byConnection(services: Services, { providers }: ModelOwner, named: NamedModel, id: string): ModelSpec {
  const connection = providers.connections.find((one) => one.id === id);
  const apiKey = connection?.apiKey ?? undefined;
  const baseUrl = connection?.baseUrl ?? undefined;
  return baseUrl === undefined
    ? { ...named, baseUrl, apiKey }
    : { ...named, baseUrl, apiKey, allowedHosts: services.policies.values.httpAllowedHosts };
}

function bySettings(services: Services, agent: ModelOwner, named: NamedModel, bySecrets: boolean): ModelSpec {
  const { provider } = named;
  const secrets = bySecrets ? agent.secrets : noSecrets;
  const environment = environmentOf(services, agent);
  const keyName = apiKeySecret(provider);
  const baseUrl = secrets.get(baseUrlSecret(provider));
  // The environment's key is only for the environment's address: an agent's own address could collect it.
  if (baseUrl !== undefined) {
    const { httpAllowedHosts: allowedHosts } = services.policies.values;
    return { ...named, baseUrl, apiKey: secrets.get(keyName), allowedHosts };
  }
  return {
    ...named,
    baseUrl: environment.get(baseUrlSecret(provider)),
    apiKey: secrets.get(keyName) ?? environment.get(keyName),
  };
}
