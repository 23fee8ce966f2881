import { knownModels } from "../../core/models/catalogue.ts";
import { missingSecret, providerNames } from "../../core/models/providers.ts";
import type { ModelCatalogue } from "./schema.ts";

/**
 * All providers, in the order in which a default is chosen. `configured`: the environment has the provider's key or
 * address (decisions §4), or the organization's default connection is `connected` to it.
 */
export function modelCatalogue(
  environmentKeys: ReadonlyMap<string, string>,
  connected: string | null = null,
): ModelCatalogue {
  const providers: ModelCatalogue["providers"] = {};
  const models: string[] = [];
  const holds = (secret: string) => environmentKeys.has(secret);
  for (const name of providerNames) {
    const configured = name === connected || missingSecret(name, holds) === null;
    providers[name] = { configured, models: knownModels[name] };
    models.push(...knownModels[name].map(({ id }) => `${name}:${id}`));
  }
  return { providers, models };
}
