import { knownModels } from "./catalogue.ts";
import { type Admission, admittedModels, type KnownConnection, type ModelFacts, problemOfConnection } from "./facts.ts";
import { type ConnectionProvider, embeddingModels, isProviderName } from "./providers.ts";
import { canServe, type ProviderRole } from "./roles.ts";

/** A connection that an agent may bind to a role. */
export interface RoleOption {
  connection: KnownConnection;
  /** Models to choose from. Where the workspace admits all models, every other one of the provider works too. */
  models: readonly string[];
}

/** The connections that an agent may bind to a role, in the order of `facts.connections`. */
export function optionsFor(role: ProviderRole, { connections, admission }: ModelFacts): RoleOption[] {
  return connections
    .filter((one) => canServe(one.provider, role) && problemOfConnection(one, admission) === null)
    .map((connection) => ({ connection, models: modelsFor(role, connection.provider, admission) }));
}

/** The models of a provider to choose from: the admitted ones, else those that the engine knows. */
export function modelsFor(role: ProviderRole, provider: ConnectionProvider, admission: Admission): readonly string[] {
  const known = knownFor(role, provider);
  const admitted = admittedModels(provider, admission);
  if (admitted === null) return known;
  const others = new Set(role === "embedding" ? knownFor("chat", provider) : knownFor("embedding", provider));
  return admitted.filter((model) => !others.has(model));
}

function knownFor(role: ProviderRole, provider: ConnectionProvider): readonly string[] {
  if (!isProviderName(provider) || role === "transcription" || role === "speech") return [];
  if (role !== "embedding") return knownModels[provider].map(({ id }) => id);
  const embedding = embeddingModels[provider];
  return embedding ? [embedding.model] : [];
}
