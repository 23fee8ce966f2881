import type { WholeTurn } from "../../client/index.ts";

type Step = NonNullable<WholeTurn["debug"]>["steps"][number];

/** The connection and model of a step that a provider connection answered; null for other steps. */
export function answeredBy({ connection, model }: Step): string | null {
  return connection == null || model === undefined ? null : `${connection} (${model})`;
}

/** A line for each model that did not answer a step. */
export function fallbackLines({ fallbacks = [] }: Step): string[] {
  return fallbacks.map(({ connection, provider, model, failure }) => {
    const name = connection === null ? `${provider}:${model}` : `${connection} (${model})`;
    return failure === null
      ? `${name} rests after failures`
      : `${name} did not answer: ${failure.hint ?? failure.message}`;
  });
}
