import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { streamText } from "ai";
import { type Asked, type Choice, serveFloor } from "./floor.ts";

// The second floor: the same over the library that most such servers are written with.

const provider = createOpenAICompatible({ name: "bench", baseURL: `${process.env.MODEL_URL}/v1`, includeUsage: true });

async function* choices({ model, messages }: Asked, abortSignal: AbortSignal): AsyncGenerator<Choice> {
  for await (const part of streamText({ model: provider(model), messages, abortSignal }).stream) {
    if (part.type === "text-delta") yield { delta: { content: part.text }, finish_reason: null };
    else if (part.type === "finish") yield { delta: {}, finish_reason: part.finishReason };
    else if (part.type === "error") throw part.error;
  }
}

await serveFloor(choices);
