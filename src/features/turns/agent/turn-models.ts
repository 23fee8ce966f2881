import type { Services } from "../../../context/ctx.ts";
import type { Fallback, NamedModel } from "../../../core/models/fallbacks.ts";
import type { TurnModel, TurnModels } from "../../../turn/models.ts";
import type { TurnEvent } from "../../../turn/types.ts";
import type { AnsweringModel, AnsweringModels, ModelOwner } from "./model.ts";

/**
 * The models of a turn. The first one is resolved at once. A single one is awaited, so that the turn fails before its
 * hooks where the key is missing.
 */
export async function openModels(services: Services, [first, ...others]: AnsweringModels): Promise<TurnModels> {
  const model = turnModel(services, first);
  const opening = model.open();
  if (others.length === 0) await opening;
  // The call of the model rejects with the same error.
  else opening.catch(() => {});
  return [model, ...others.map((other) => turnModel(services, other))];
}

function turnModel({ models, fallbacks }: Services, answering: AnsweringModel): TurnModel {
  let opening: ReturnType<TurnModel["open"]> | null = null;
  return {
    named: namedOf(answering),
    open: () => {
      opening ??= models.resolve(answering.spec);
      return opening;
    },
    ...(answering.connection ? { breaker: fallbacks.breaker } : {}),
  };
}

export function namedOf({ spec: { provider, model }, connection }: AnsweringModel): NamedModel {
  return { provider, model, connectionId: connection?.id ?? null, connection: connection?.name ?? null };
}

/** The fallback that an event of a turn or completion tells. */
export function fallbackOf(
  { from, to, failure }: Pick<Extract<TurnEvent, { type: "model-fallback" }>, "from" | "to" | "failure">,
  { row: { id, slug, organizationId } }: Pick<ModelOwner, "row">,
  requestId: string,
): Fallback {
  return { agent: { id, slug, organizationId }, requestId, from, to, code: failure?.code ?? "resting" };
}
