import type { Services } from "../../../context.ts";
import type { Embedder, ModelSpec } from "../../../core/ports.ts";
import { embeddingModels } from "../../../core/providers.ts";
import { monthOf, settle } from "../budget/budget.ts";
import { type Asking, modelSpec } from "./model.ts";

/**
 * How an agent's memories are found by meaning: with the embedding model of its own provider, since nobody else is to
 * read them. Null where the database or the provider has none.
 */
export function embedderFor(services: Services, agent: Asking): Embedder | null {
  const { models, options } = services;
  const embed = models.embed;
  if (!options.vectors || !embed) return null;
  const spec = embeddingSpec(services, agent);
  if (!spec) return null;
  const { model, least } = spec;
  return {
    model: `${spec.provider}:${model}`,
    least,
    async embed(texts, signal) {
      const { vectors, tokens } = await embed(spec, texts, signal).catch((error: unknown) => {
        throw signal.aborted ? error : inOurWords(error);
      });
      await charge(services, agent, tokens);
      return vectors;
    },
  };
}

/** A provider's own may repeat a key, or what was to be embedded. */
function inOurWords(error: unknown): Error {
  const status = error instanceof Error && "statusCode" in error ? error.statusCode : undefined;
  return new Error(`The embedding model gave no vectors${status === undefined ? "" : ` (status ${status})`}`);
}

/** At an address of its own a provider need not have the model. */
function embeddingSpec(services: Services, agent: Asking): (ModelSpec & { least: number }) | null {
  const own = modelSpec(services, agent);
  const found = embeddingModels[own.provider];
  return found === undefined || own.baseUrl !== undefined ? null : { ...own, ...found };
}

/** They cost so little that no tokens are held for them. */
async function charge({ database, clock }: Services, { row }: Asking, used: number): Promise<void> {
  if (row.monthlyTokenBudget === null || used === 0) return;
  await settle(database, { agentId: row.id, month: monthOf(clock.now()), tokens: 0, used });
}
