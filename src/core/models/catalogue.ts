import type { ProviderName } from "./providers.ts";

export interface KnownModel {
  id: string;
  tier: "fast" | "standard" | "heavy" | null;
}

/**
 * Recommended models; every other model of the provider works too. A self-hosted server has its own models. The ids are
 * those of the providers' packages.
 */
export const knownModels: Record<ProviderName, KnownModel[]> = {
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
