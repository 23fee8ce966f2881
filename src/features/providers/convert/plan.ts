import { type KnownConnection, type ModelFacts, usualModel } from "../../../core/models/facts.ts";
import { apiKeySecret, baseUrlSecret, type ProviderName } from "../../../core/models/providers.ts";
import { resolveModel } from "../../../core/models/resolve.ts";
import type { ProviderRole } from "../../../core/models/roles.ts";

/** A binding of a role to the connection that takes the place of secrets. */
interface PlannedBinding {
  role: ProviderRole;
  /** Null where the usual model is the one that answered, so that a change of the agent's model goes on counting. */
  model: string | null;
}

/** The roles that could be answered before there were connections, in the order in which later ones build on earlier. */
const formerRoles = ["chat", "fast", "embedding"] as const;

/**
 * The roles to bind to a connection that takes the place of a provider's secrets, so that the same model answers for each
 * role as before.
 */
export function planBindings(facts: ModelFacts, connection: KnownConnection & { provider: ProviderName }) {
  const { id, provider } = connection;
  const gone = [apiKeySecret(provider), baseUrlSecret(provider)];
  const kept = { has: (secret: string) => !gone.includes(secret) && facts.secrets.has(secret) };
  let after: ModelFacts = { ...facts, connections: [...facts.connections, connection], secrets: kept };
  const planned: PlannedBinding[] = [];
  for (const role of formerRoles) {
    const before = resolveModel(role, facts).wanted;
    if (!before?.bySecrets || before.provider !== provider || facts.bindings[role]) continue;
    const now = resolveModel(role, after).wanted;
    if (now?.connection?.id === id && now.model === before.model) continue;
    const model = usualModel(role, facts, provider) === before.model ? null : before.model;
    planned.push({ role, model });
    after = { ...after, bindings: { ...after.bindings, [role]: { connectionId: id, model, fallbacks: [] } } };
  }
  return planned;
}

/** A name that no connection of the agent has, such as `openai 2`. */
export function freeName(provider: ProviderName, taken: ReadonlySet<string>): string {
  if (!taken.has(provider)) return provider;
  for (let number = 2; ; number += 1) {
    const name = `${provider} ${number}`;
    if (!taken.has(name)) return name;
  }
}
