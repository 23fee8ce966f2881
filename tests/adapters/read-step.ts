import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { ModelCall, StreamingModel } from "../../src/core/ports.ts";
import { scrubber } from "../../src/core/scrub/scrub.ts";
import { StepFold } from "../../src/turn/step.ts";
import type { TurnEvent } from "../../src/turn/types.ts";

export interface ReadStep {
  step: StepFold;
  events: TurnEvent[];
  /** The error of the call or its stream, error parts included. */
  error: unknown;
}

type Options = Omit<ModelCall, "prompt"> & { onEvent?: (event: TurnEvent) => void };

/** One call of a model, read as the engine reads it. */
export async function readStep(
  model: StreamingModel,
  prompt: string | ModelCall["prompt"],
  { onEvent, ...options }: Options = {},
): Promise<ReadStep> {
  const step = new StepFold(0, "initial", { scrub: scrubber([]), tools: new Map() });
  const events: TurnEvent[] = [];
  try {
    const { stream } = await model.doStream({
      ...options,
      prompt: typeof prompt === "string" ? [{ role: "user", content: [{ type: "text", text: prompt }] }] : prompt,
    });
    for await (const part of partsOf(stream)) {
      const event = step.take(part);
      if (!event) continue;
      events.push(event);
      onEvent?.(event);
    }
    return { step, events, error: undefined };
  } catch (error) {
    return { step, events, error };
  }
}

type Stream = Awaited<ReturnType<StreamingModel["doStream"]>>["stream"];

/** One part after the other. */
export async function* partsOf(stream: Stream): AsyncGenerator<LanguageModelV4StreamPart> {
  const reader = stream.getReader();
  for (let read = await reader.read(); read.value; read = await reader.read()) yield* [read.value].flat();
}

/** The texts of an error and all its causes. */
export function inWords(error: unknown): string {
  if (!(error instanceof Error)) return JSON.stringify(error);
  const { responseBody, statusCode } = error as { responseBody?: string; statusCode?: number };
  return [error.message, statusCode, responseBody, error.cause === undefined ? "" : inWords(error.cause)].join(" ");
}
