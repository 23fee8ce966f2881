import { apiKeySecret, baseUrlSecret, type ProviderName } from "../../core/providers.ts";
import type { ModelCatalogue } from "./schema.ts";

type Models = ModelCatalogue["providers"][string]["models"];

/** What is worth choosing from; any other model that the provider knows works too. An own server's models are its own. */
const known: Partial<Record<ProviderName, Models>> = {
  openai: [
    { id: "gpt-5-nano", tier: "fast" },
    { id: "gpt-5-mini", tier: "standard" },
    { id: "gpt-5.2", tier: "heavy" },
  ],
  "openai-compatible": [],
  demo: [{ id: "demo", tier: null }],
};

/** The providers of this release; `configured` where the environment holds what they need (decisions §4). */
export function modelCatalogue(environmentKeys: ReadonlyMap<string, string>): ModelCatalogue {
  const providers: ModelCatalogue["providers"] = {};
  const models: string[] = [];
  for (const [name, offered] of Object.entries(known) as [ProviderName, Models][]) {
    providers[name] = { configured: isConfigured(name, environmentKeys), models: offered };
    models.push(...offered.map(({ id }) => `${name}:${id}`));
  }
  return { providers, models };
}

function isConfigured(provider: ProviderName, keys: ReadonlyMap<string, string>): boolean {
  if (provider === "demo") return true;
  if (provider === "openai-compatible") return keys.has(baseUrlSecret(provider));
  return keys.has(apiKeySecret(provider));
}
