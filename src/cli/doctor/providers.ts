import { type Environment, environmentKeys } from "../../core/config.ts";
import { apiKeySecret, baseUrlSecret, type ProviderName, providerNames } from "../../core/providers.ts";
import { type Check, ok, warn } from "./check.ts";

const name = "providers";

/** Providers that need an address and no key. */
const keyless: readonly ProviderName[] = ["ollama", "openai-compatible"];

/** Checks which model providers the environment has keys for; agents may have keys of their own. */
export function checkProviders(environment: Environment): Check {
  const keys = environmentKeys(environment);
  const isConfigured = (provider: ProviderName) => {
    if (keyless.includes(provider)) return keys.has(baseUrlSecret(provider));
    // With a base URL, `openai` may be any chat-completions server, which may need no key.
    return keys.has(apiKeySecret(provider)) || (provider === "openai" && keys.has(baseUrlSecret(provider)));
  };
  const real = providerNames.filter((provider) => provider !== "demo");
  const configured = real.filter(isConfigured);
  // Ollama needs no address: without one it is looked for on this machine.
  const others = real.filter((provider) => provider !== "ollama" && !isConfigured(provider));
  const half = others.filter((provider) => keys.has(apiKeySecret(provider)) || keys.has(baseUrlSecret(provider)));
  if (half.length > 0) {
    const missing = half.map((provider) => `${provider} lacks its ${keyless.includes(provider) ? "address" : "key"}`);
    return warn(name, `${missing.join("; ")}: set it too, or unset what is there`);
  }
  if (configured.length === 0) {
    return warn(
      name,
      "No key in the environment: agents without a key of their own use the demo model; set one, such as OPENAI_API_KEY",
    );
  }
  return ok(name, `Configured: ${configured.join(", ")}; not configured: ${others.join(", ") || "none"}`);
}
