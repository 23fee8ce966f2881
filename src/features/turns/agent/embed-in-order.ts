import type { Services } from "../../../context/ctx.ts";
import { newId } from "../../../core/ids.ts";
import type { Embedding, ModelSpec } from "../../../core/ports.ts";
import { classifyFailure, mayFallBack } from "../../../turn/failure.ts";
import { awake, noteAnswer, noteCall, type TurnModel } from "../../../turn/models.ts";
import type { AnsweringModel, AnsweringModels, ModelOwner } from "./model.ts";
import { fallbackOf, namedOf } from "./turn-models.ts";

interface EmbeddingRun {
  services: Pick<Services, "fallbacks">;
  agent: Pick<ModelOwner, "row">;
  embed: (spec: ModelSpec) => Promise<Embedding>;
  signal: AbortSignal;
}

type EmbeddingModel = Pick<AnsweringModel, "spec"> & Pick<TurnModel, "named" | "breaker">;
type EmbeddingModels = readonly [EmbeddingModel, ...EmbeddingModel[]];

/** An embedding, and the model that made it. */
type MadeEmbedding = Embedding & Pick<AnsweringModel, "spec">;

/**
 * Embeds with the first model that answers; another one is called after the same failures as in turns. A fallback with
 * another model is left out, since vectors of two models can't be compared.
 */
export async function embedInOrder(running: EmbeddingRun, [first, ...others]: AnsweringModels): Promise<MadeEmbedding> {
  const { breaker } = running.services.fallbacks;
  const withRest = (answering: AnsweringModel): EmbeddingModel => ({
    spec: answering.spec,
    named: namedOf(answering),
    ...(answering.connection ? { breaker } : {}),
  });
  const wanted = withRest(first);
  const same = others.filter(({ spec }) => spec.model === first.spec.model);
  const models = awake([wanted, ...same.map(withRest)]);
  if (models[0] !== wanted) tell(running, { from: wanted.named, to: models[0].named, failure: null });
  return askInOrder(running, models);
}

async function askInOrder(running: EmbeddingRun, [model, next, ...rest]: EmbeddingModels): Promise<MadeEmbedding> {
  noteCall(model);
  try {
    const embedding = await running.embed(model.spec);
    noteAnswer(model, true);
    return { ...embedding, spec: model.spec };
  } catch (error) {
    if (running.signal.aborted || !mayFallBack(error)) throw error;
    noteAnswer(model, false);
    if (!next) throw error;
    tell(running, { from: model.named, to: next.named, failure: classifyFailure(error) });
  }
  return askInOrder(running, [next, ...rest]);
}

function tell({ services, agent }: EmbeddingRun, fallback: Parameters<typeof fallbackOf>[0]): void {
  services.fallbacks.tell(fallbackOf(fallback, agent, newId()));
}
