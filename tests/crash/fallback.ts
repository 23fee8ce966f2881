import { APICallError } from "@ai-sdk/provider";
import type { Models, StreamingModel } from "../../src/core/ports.ts";
import { providersOf } from "../features/chat/connections.ts";

const failing = "overloaded";

/** Binds an agent to a connection whose provider fails in each victim, with another connection as its fallback. */
export async function bindWithFallback(world: Parameters<typeof providersOf>[0], slug: string): Promise<void> {
  const providers = providersOf(world);
  const connection = { provider: "openai", apiKey: "k" } as const;
  const first = await providers.connect("first", connection);
  const fallbacks = [{ connectionId: await providers.connect("second", connection), model: "backup" }];
  await providers.bind(slug, "chat", first, { model: failing, fallbacks });
}

const overloaded: StreamingModel = {
  doStream: async () => {
    const request = { url: "http://provider.example", requestBodyValues: {} };
    throw new APICallError({ ...request, message: "Overloaded", statusCode: 503 });
  },
};

/** The models of a victim: `model` answers for every model but the first one of `bindWithFallback`. */
export const withFallback = (model: StreamingModel): Models => ({
  resolve: async (spec) => (spec.model === failing ? overloaded : model),
});
