import {
  type Answerer,
  type Binding,
  byConnection,
  bySettings,
  defaultConnection,
  factsOfBinding,
  hasAddress,
  hasKey,
  type ModelFacts,
  problemOf,
  type Unusable,
  usualModel,
} from "./facts.ts";
import { defaultModels, isProviderName, type ProviderName, providerNames, splitModel } from "./providers.ts";
import type { ProviderRole } from "./roles.ts";

export interface Resolution {
  /** The models that may answer, in the order in which they are tried; empty when none may. */
  answerers: readonly Answerer[];
  /** The model that is configured to answer, usable or not; null where none is. */
  wanted: Answerer | null;
  /** Where `wanted` comes from; `none` also stands for the built-in model of an agent without any configuration. */
  source: "bound" | "default" | "environment" | "none";
  /** Why `wanted` may not answer; null when it may. */
  reason: Unusable | null;
}

type Source = Resolution["source"];

/**
 * Decides which models answer for a role of an agent: those that it binds, else the organization's default connection,
 * else the environment's provider, else the built-in `demo` (managed edition, M6; decisions §4). A bound model is never
 * replaced by one that the agent did not name. The agent's own secrets come before the default connection. `named`, as
 * `provider:model` or as a model of the agent's provider, replaces the model of the role `chat`.
 */
export function resolveModel(role: ProviderRole, facts: ModelFacts, named?: string): Resolution {
  if (role === "chat" && named !== undefined) return resolveNamed(facts, named);
  const binding = facts.bindings[role];
  if (binding) return resolveBound(role, facts, binding);
  switch (role) {
    case "chat":
      return resolveChat(facts);
    case "fast":
      // The agent's owner has to ask for background work, so no other setting leads to a fast model.
      return facts.own.fastModel === null ? nothing : resolveNamed(facts, facts.own.fastModel);
    case "embedding":
      return resolveEmbedding(facts);
    default:
      // No provider has a usual model for speech: an agent names its own.
      return nothing;
  }
}

const nothing: Resolution = { answerers: [], wanted: null, source: "none", reason: null };

function resolveBound(role: ProviderRole, facts: ModelFacts, binding: Binding): Resolution {
  const all = answerersOf(role, facts, binding);
  const [wanted = null] = all;
  const answerers = all.filter((one) => problemOf(one, facts) === null);
  const reason = wanted && answerers.length === 0 ? problemOf(wanted, facts) : null;
  return { answerers, wanted, source: "bound", reason };
}

/** The bound model and its fallbacks. */
export function answerersOf(role: ProviderRole, given: ModelFacts, { fallbacks, ...first }: Binding): Answerer[] {
  const facts = factsOfBinding(given, first);
  return [first, ...fallbacks].flatMap(({ connectionId, model }) => {
    const connection = facts.connections.find(({ id }) => id === connectionId);
    if (!connection) return [];
    return [byConnection(connection, model ?? usualModel(role, facts, connection.provider) ?? "default")];
  });
}

function resolveChat(facts: ModelFacts): Resolution {
  const configured = configuredModel(facts);
  const shared = defaultConnection("chat", facts);
  const { provider } = facts.own;
  const takesShared = shared && (provider === null || provider === shared.provider) && !configured.bySecrets;
  if (takesShared && problemOf(shared, facts) === null) return only(shared, facts, "default");
  return only(configured, facts, configured.provider === "demo" ? "none" : "environment");
}

/** The provider and model of an agent without connections. */
function configuredModel(facts: ModelFacts): Answerer {
  const { own, defaultModel } = facts;
  const named = own.provider !== null && isProviderName(own.provider) ? own.provider : null;
  const preset = defaultModel === null ? null : splitModel(defaultModel).provider;
  const provider = named ?? preset ?? firstConfigured(facts);
  return bySettings(facts, provider, usualModel("chat", facts, provider) ?? "default");
}

/** The first admitted provider with a key and a default model, else the built-in `demo`. */
function firstConfigured(facts: ModelFacts): ProviderName {
  const isUsable = (provider: ProviderName) => {
    const model = defaultModels[provider];
    if (model === undefined) return false;
    return hasKey(facts, provider) && problemOf(bySettings(facts, provider, model), facts) === null;
  };
  return providerNames.find((provider) => provider !== "demo" && isUsable(provider)) ?? "demo";
}

/**
 * A model by its name: at the bound connections of its provider, which no other one replaces; else at the default
 * connection, else at the provider of the secrets and the environment.
 */
function resolveNamed(facts: ModelFacts, named: string): Resolution {
  const { provider: prefix, model } = splitModel(named);
  const provider = prefix ?? resolveModel("chat", facts).wanted?.provider ?? "demo";
  const bound = facts.bindings.chat ? answerersOf("chat", facts, facts.bindings.chat) : [];
  const [first, ...others] = bound.filter((one) => one.provider === provider).map((one) => ({ ...one, model }));
  if (first) return only([first, ...others].find((one) => problemOf(one, facts) === null) ?? first, facts, "bound");
  if (!isProviderName(provider)) return nothing;
  const settings = bySettings(facts, provider, model);
  const shared = settings.bySecrets ? null : defaultConnection("chat", facts);
  const renamed = shared?.provider === provider ? { ...shared, model } : null;
  if (renamed && problemOf(renamed, facts) === null) return only(renamed, facts, "default");
  return only(settings, facts, provider === "demo" ? "none" : "environment");
}

/** The provider of the conversations, since no other provider may read what is learned from them. */
function resolveEmbedding(facts: ModelFacts): Resolution {
  const [chat] = resolveModel("chat", facts).answerers;
  if (!chat || !isProviderName(chat.provider)) return nothing;
  const { provider } = chat;
  const model = usualModel("embedding", facts, provider);
  if (model === null) return nothing;
  const settings = bySettings(facts, provider, model);
  const shared = settings.bySecrets ? null : defaultConnection("embedding", facts);
  // At another address than the provider's own the model may not exist.
  if (shared && shared.provider === provider && !shared.connection?.hasAddress && problemOf(shared, facts) === null) {
    return only(shared, facts, "default");
  }
  if (hasAddress(facts, provider) || chat.connection?.hasAddress) return nothing;
  if (chat.connection && !hasKey(facts, provider)) return nothing;
  return only(settings, facts, "environment");
}

function only(wanted: Answerer, facts: ModelFacts, source: Source): Resolution {
  const reason = problemOf(wanted, facts);
  return { answerers: reason === null ? [wanted] : [], wanted, source, reason };
}
