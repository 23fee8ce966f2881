import { EngineError, notFound } from "../../../core/errors.ts";
import {
  type Answerer,
  type Binding,
  byConnection,
  factsOfBinding,
  type ModelFacts,
  problemOf,
  problemOfConnection,
  usualModel,
} from "../../../core/models/facts.ts";
import { optionsFor } from "../../../core/models/options.ts";
import { answerersOf, resolveModel } from "../../../core/models/resolve.ts";
import { canServe, type ProviderRole as Role } from "../../../core/models/roles.ts";
import { invalid } from "../../../http/errors.ts";
import type { ProviderRole } from "./schema.ts";

/** A role of an agent in its API form. */
export function toRole(role: Role, facts: ModelFacts): ProviderRole {
  const { wanted, answerers, source, reason } = resolveModel(role, facts);
  const binding = facts.bindings[role];
  const [, ...fallbacks] = binding ? answerersOf(role, facts, binding) : [];
  return {
    role,
    connection: wanted?.connection ? shown(wanted.connection) : null,
    model: wanted?.model ?? null,
    fallbacks: fallbacks.flatMap(({ connection, model }) =>
      connection ? [{ connectionId: connection.id, model }] : [],
    ),
    source,
    usable: answerers.length > 0,
    reason,
    options: optionsFor(role, facts).map(({ connection, models }) => {
      const { id, ...rest } = shown(connection);
      return { connectionId: id, ...rest, models: [...models] };
    }),
  };
}

const shown = ({ id, name, provider, shared }: ModelFacts["connections"][number]) => ({ id, name, provider, shared });

/**
 * Throws unless an agent may bind these models to a role: the 404 for a connection that it can't have, and the 400 for
 * one that is no option, for a missing or repeated model, and for embeddings that could not be compared.
 */
export function requireOptions(role: Role, given: ModelFacts, { fallbacks, ...first }: Binding): void {
  const facts = factsOfBinding(given, first);
  const all = [first, ...fallbacks].map((entry, at) => {
    return optionOf(role, facts, entry, at === 0 ? [] : ["fallbacks", at - 1]);
  });
  for (const [at, { connection, model }] of all.entries()) {
    if (at === 0) continue;
    const path = ["fallbacks", at - 1];
    const isRepeated = all.slice(0, at).some((one) => one.connection?.id === connection?.id && one.model === model);
    if (isRepeated) throw invalid([{ path, message: "names an entry twice" }]);
    if (role === "embedding" && model !== all[0]?.model) {
      const message = "must have the model of the binding, since vectors of two models can't be compared";
      throw invalid([{ path: [...path, "model"], message }]);
    }
  }
}

function optionOf(
  role: Role,
  facts: ModelFacts,
  { connectionId, model: given }: Omit<Binding, "fallbacks">,
  path: (string | number)[],
): Answerer {
  const connection = facts.connections.find(({ id }) => id === connectionId);
  if (!connection) throw notFound("Connection");
  const isOption = canServe(connection.provider, role) && problemOfConnection(connection, facts.admission) === null;
  if (!isOption) throw notAdmitted();
  const model = given ?? usualModel(role, facts, connection.provider);
  if (model === null) {
    throw invalid([{ path: [...path, "model"], message: "must name a model of this provider" }]);
  }
  const answerer = byConnection(connection, model);
  if (problemOf(answerer, facts)) throw notAdmitted();
  return answerer;
}

const notAdmitted = () => new EngineError("bad-request", "The workspace does not admit it");
