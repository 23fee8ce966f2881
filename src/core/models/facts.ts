import {
  apiKeySecret,
  baseUrlSecret,
  type ConnectionProvider,
  defaultModels,
  embeddingModels,
  fastModels,
  isProviderName,
  missingSecret,
  type ProviderName,
  splitModel,
} from "./providers.ts";
import { canServe, type ProviderRole } from "./roles.ts";

/** A stored connection to a provider, without its key. */
export interface KnownConnection {
  id: string;
  name: string;
  provider: ConnectionProvider;
  hasKey: boolean;
  /** Whether it names an address instead of the provider's own. */
  hasAddress: boolean;
  enabled: boolean;
  /** Whether it belongs to the organization, and not to one agent. */
  shared: boolean;
  isDefault: boolean;
}

interface BoundModel {
  connectionId: string;
  /** Null: the usual model of the connection's provider. */
  model: string | null;
}

export interface Binding extends BoundModel {
  /** In the order in which they are tried. */
  fallbacks: readonly BoundModel[];
}

/** The providers, models and connections that a workspace admits (managed edition, M6). */
export interface Admission {
  /** Null: every provider. `models` null: each of its models. */
  admitted: readonly { provider: ConnectionProvider; models: readonly string[] | null }[] | null;
  privateConnections: boolean;
}

type Names = Pick<ReadonlySet<string>, "has">;

/** All that decides which models answer for an agent. Keys are only known to be there. */
export interface ModelFacts {
  /** The agent's own fields. */
  own: { provider: string | null; model: string | null; fastModel: string | null };
  bindings: Partial<Record<ProviderRole, Binding>>;
  connections: readonly KnownConnection[];
  admission: Admission;
  /** The names of the agent's secrets, and of those that the environment gives to it (`apiKeySecret`). */
  secrets: Names;
  environment: Names;
  /** The policy `defaultModel`. */
  defaultModel: string | null;
}

/** A model that can answer, and where its key comes from. */
export interface Answerer {
  provider: ConnectionProvider;
  model: string;
  /** Null: the key is the agent's own secret or the environment's. */
  connection: KnownConnection | null;
  /** Whether a secret of the agent has the provider's key or address. */
  bySecrets: boolean;
}

/** Why a configured model may not answer. */
export type Unusable = "not-admitted" | "disabled" | "no-key";

/** The facts of an agent without any configuration. */
export const unconfigured: ModelFacts = {
  own: { provider: null, model: null, fastModel: null },
  bindings: {},
  connections: [],
  admission: { admitted: null, privateConnections: true },
  secrets: new Set(),
  environment: new Set(),
  defaultModel: null,
};

export const byConnection = (connection: KnownConnection, model: string): Answerer => ({
  provider: connection.provider,
  model,
  connection,
  bySecrets: false,
});

/** A model of the provider of the agent's own secrets, else of the environment. */
export function bySettings(facts: ModelFacts, provider: ProviderName, model: string): Answerer {
  // Own secrets are private connections of an earlier release.
  const bySecrets = facts.admission.privateConnections && settingsOf(provider).some((one) => facts.secrets.has(one));
  return { provider, model, connection: null, bySecrets };
}

const settingsOf = (provider: ProviderName) => [apiKeySecret(provider), baseUrlSecret(provider)];

/** The organization's default connection for a role that it can serve with a usual model. */
export function defaultConnection(role: ProviderRole, facts: ModelFacts): Answerer | null {
  const connection = facts.connections.find(({ isDefault }) => isDefault);
  if (!connection || !canServe(connection.provider, role)) return null;
  const model = usualModel(role, facts, connection.provider);
  return model === null ? null : byConnection(connection, model);
}

/**
 * The facts for the usual models of a binding: the model of an agent without a provider is one of the first connection's
 * provider, and not of the fallbacks' providers.
 */
export function factsOfBinding(facts: ModelFacts, { connectionId }: Pick<BoundModel, "connectionId">): ModelFacts {
  const first = facts.connections.find(({ id }) => id === connectionId);
  if (!first || facts.own.provider !== null) return facts;
  return { ...facts, own: { ...facts.own, provider: first.provider } };
}

/** The model of a provider for an agent that binds none; null where the engine knows none. */
export function usualModel(role: ProviderRole, facts: ModelFacts, provider: ConnectionProvider): string | null {
  if (role === "transcription" || role === "speech" || !isProviderName(provider)) return null;
  if (role === "embedding") return embeddingModels[provider]?.model ?? null;
  if (role === "fast") return fastModels[provider] ?? null;
  const { own, defaultModel } = facts;
  if (own.model !== null && (own.provider === null || own.provider === provider)) return own.model;
  const preset = defaultModel === null ? null : splitModel(defaultModel);
  if (preset?.provider === provider) return preset.model;
  // Other providers serve what is installed there.
  return defaultModels[provider] ?? "default";
}

/** Why a model may not answer; null when it may. */
export function problemOf({ provider, model, connection }: Answerer, { admission }: ModelFacts): Unusable | null {
  const models = admittedModels(provider, admission);
  if (models !== null && !models.includes(model)) return "not-admitted";
  return connection && problemOfConnection(connection, admission);
}

/** Why no model of a connection may answer; null when one may. */
export function problemOfConnection(connection: KnownConnection, admission: Admission): Unusable | null {
  const isAdmitted = connection.shared || admission.privateConnections;
  if (!isAdmitted || admittedModels(connection.provider, admission)?.length === 0) return "not-admitted";
  return lackOf(connection);
}

/** Why a connection is of no use to any agent; null when it is. */
export function lackOf(connection: KnownConnection): Exclude<Unusable, "not-admitted"> | null {
  if (!connection.enabled) return "disabled";
  return lacksKey(connection) ? "no-key" : null;
}

/** The admitted models of a provider; null for all. The built-in model needs no admission. */
export function admittedModels(provider: ConnectionProvider, { admitted }: Admission): readonly string[] | null {
  if (admitted === null || provider === "demo") return null;
  const found = admitted.find((one) => one.provider === provider);
  return found ? found.models : [];
}

function lacksKey({ provider, hasKey, hasAddress }: KnownConnection): boolean {
  if (!isProviderName(provider)) return !hasKey;
  return missingSecret(provider, (secret) => (secret === apiKeySecret(provider) ? hasKey : hasAddress)) !== null;
}

const holds = (facts: ModelFacts, secret: string) =>
  (facts.admission.privateConnections && facts.secrets.has(secret)) || facts.environment.has(secret);

/** Whether the agent's secrets or the environment have a key of the provider. */
export const hasKey = (facts: ModelFacts, provider: ProviderName) => holds(facts, apiKeySecret(provider));

/** The same for an address instead of the provider's own. */
export const hasAddress = (facts: ModelFacts, provider: ProviderName) => holds(facts, baseUrlSecret(provider));
