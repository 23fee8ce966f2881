import { missingSecret, type ProviderName, providerNames } from "../../core/models/providers.ts";
import type { ModelCatalogue } from "./schema.ts";

type Models = ModelCatalogue["providers"][string]["models"];

/**
 * Recommended models; every other model of the provider works too. A self-hosted server has its own models. The ids are
 * those of the providers' packages.
 */
const known: Record<ProviderName, Models> = {
  openai: [
    { id: "gpt-6-luna", tier: "fast" },
    { id: "gpt-6.1-terra", tier: "standard" },
    { id: "gpt-6.1-sol", tier: "heavy" },
    { id: "gpt-6-astra", tier: "heavy" },
    { id: "gpt-5.4-nano", tier: "fast" },
    { id: "gpt-5.4-mini", tier: "standard" },
    { id: "gpt-5-nano", tier: "fast" },
    { id: "gpt-5-mini", tier: "standard" },
  ],
  anthropic: [
    { id: "claude-haiku-5-5", tier: "fast" },
    { id: "claude-sonnet-5-5", tier: "standard" },
    { id: "claude-opus-5-5", tier: "heavy" },
    { id: "claude-haiku-4-5", tier: "fast" },
    { id: "claude-sonnet-4-6", tier: "standard" },
  ],
  google: [
    { id: "gemini-3.5-flash-lite", tier: "fast" },
    { id: "gemini-3.8-flash", tier: "standard" },
    { id: "gemini-3.1-pro-preview", tier: "heavy" },
    { id: "gemini-4-argon", tier: null },
    { id: "gemini-2.5-flash-lite", tier: "fast" },
    { id: "gemini-2.5-flash", tier: "standard" },
    { id: "gemini-2.5-pro", tier: "heavy" },
  ],
  mistral: [
    { id: "mistral-small-latest", tier: "fast" },
    { id: "mistral-medium-latest", tier: "standard" },
    { id: "mistral-large-latest", tier: "heavy" },
    { id: "magistral-medium-latest", tier: "heavy" },
  ],
  ollama: [],
  "openai-compatible": [],
  demo: [{ id: "demo", tier: null }],
};

/**
 * All providers, in the order in which a default is chosen. `configured`: the environment has the provider's key or
 * address (decisions §4).
 */
export function modelCatalogue(environmentKeys: ReadonlyMap<string, string>): ModelCatalogue {
  const providers: ModelCatalogue["providers"] = {};
  const models: string[] = [];
  const holds = (secret: string) => environmentKeys.has(secret);
  for (const name of providerNames) {
    providers[name] = { configured: missingSecret(name, holds) === null, models: known[name] };
    models.push(...known[name].map(({ id }) => `${name}:${id}`));
  }
  return { providers, models };
}
