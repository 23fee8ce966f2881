import type { Services } from "../../../context/ctx.ts";
import { TextsRefused } from "../../../core/errors.ts";
import { embeddingModels } from "../../../core/models/providers.ts";
import type { Embedder, ModelSpec } from "../../../core/ports.ts";
import { monthOf } from "../../../core/time/calendar.ts";
import { cautiousCost, hasBudget, pricingOf } from "../budget/pricing.ts";
import { settle } from "../budget/settle.ts";
import { embedInOrder } from "./embed-in-order.ts";
import { answeringFor, type ModelOwner } from "./model.ts";

/** The `least` of a model about which nothing is known. */
const usualLeast = 0.3;

/**
 * The embedder for an agent's memories: the bound one, else one of the conversations' provider, since no other provider
 * may read the memories. Null when the database has no vectors, or the agent no embedding model.
 */
export function embedderFor(services: Services, agent: ModelOwner): Embedder | null {
  const { models, options } = services;
  const embed = models.embed;
  if (!options.vectors || !embed) return null;
  const [first, ...others] = answeringFor(services, agent, "embedding").models;
  if (!first) return null;
  const { provider, model } = first.spec;
  const known = embeddingModels[provider];
  return {
    model: `${provider}:${model}`,
    least: known?.model === model ? known.least : usualLeast,
    async embed(texts, signal) {
      const running = { services, agent, signal, embed: (spec: ModelSpec) => embed(spec, texts, signal) };
      const { vectors, tokens, spec } = await embedInOrder(running, [first, ...others]).catch((error: unknown) => {
        throw signal.aborted ? error : inOurWords(error);
      });
      await charge(services, { agent, spec, tokens });
      return vectors;
    },
  };
}

/** The engine's own message, since a provider's message may contain a key or the texts. */
function inOurWords(error: unknown): Error {
  const status = error instanceof Error && "statusCode" in error ? error.statusCode : undefined;
  const said = `The embedding model gave no vectors${status === undefined ? "" : ` (status ${status})`}`;
  if (typeof status !== "number" || status < 400 || refusedAnyway.has(status)) return new Error(said);
  return new TextsRefused(said, { failed: status >= 500 });
}

/** Statuses about the key, the account, the model or too many requests: they do not depend on the texts. */
const refusedAnyway: ReadonlySet<number> = new Set([401, 402, 403, 404, 408, 429]);

interface ChargedEmbedding {
  agent: ModelOwner;
  spec: ModelSpec;
  tokens: number;
}

/** Charges an embedding. Nothing is reserved before, since embeddings are cheap. */
async function charge({ database, clock }: Services, { agent, spec, tokens }: ChargedEmbedding): Promise<void> {
  if (!hasBudget(agent) || tokens === 0) return;
  const cost = cautiousCost(tokens, 0, pricingOf(agent, [{ spec }]).price);
  const period = { agentId: agent.row.id, month: monthOf(clock.now()) };
  await settle(database, { ...period, tokens: 0, cost: 0, used: { tokens, cost } });
}
