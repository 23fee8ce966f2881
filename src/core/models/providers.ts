/** The model providers of decisions §4, in the order in which a default is chosen. */
export const providerNames = [
  "openai",
  "anthropic",
  "google",
  "mistral",
  "ollama",
  "openai-compatible",
  "demo",
] as const;

export type ProviderName = (typeof providerNames)[number];

/** The providers that a connection can be of: those of language models, and those of speech alone. */
export const connectionProviders = [...providerNames, "deepgram", "elevenlabs"] as const;
export type ConnectionProvider = (typeof connectionProviders)[number];

/** The providers' own addresses, without the version of their API. Other providers run wherever their operator chose. */
export const providerAddresses: Partial<Record<ConnectionProvider, string>> = {
  openai: "https://api.openai.com",
  anthropic: "https://api.anthropic.com",
  google: "https://generativelanguage.googleapis.com",
  mistral: "https://api.mistral.ai",
  deepgram: "https://api.deepgram.com",
  elevenlabs: "https://api.elevenlabs.io",
};

/** The default model of a provider. Other providers serve the models installed there. */
export const defaultModels: Partial<Record<ProviderName, string>> = {
  openai: "gpt-5-mini",
  anthropic: "claude-sonnet-5-5",
  google: "gemini-3.8-flash",
  mistral: "mistral-medium-latest",
  demo: "demo",
};

/** The default fast and cheap model of a provider. */
export const fastModels: Partial<Record<ProviderName, string>> = {
  openai: "gpt-5-nano",
  anthropic: "claude-haiku-5-5",
  google: "gemini-3.5-flash-lite",
  mistral: "mistral-small-latest",
};

/**
 * A provider's embedding model, and from which similarity on its texts count as related (`Embedder.least`), which
 * differs between models.
 */
export const embeddingModels: Partial<Record<ProviderName, { model: string; least: number }>> = {
  openai: { model: "text-embedding-3-small", least: 0.25 },
  google: { model: "gemini-embedding-001", least: 0.6 },
  mistral: { model: "mistral-embed", least: 0.65 },
};

/**
 * The most tokens of a prompt: fewer than current models accept, so that a reply fits too. Self-hosted models often
 * accept less; the built-in model has no limit.
 */
export const promptTokens: Readonly<Record<ProviderName, number>> = {
  openai: 100_000,
  anthropic: 160_000,
  google: 200_000,
  mistral: 100_000,
  ollama: 24_000,
  "openai-compatible": 64_000,
  demo: 1_000_000,
};

export function isProviderName(value: string): value is ProviderName {
  return (providerNames as readonly string[]).includes(value);
}

const stem = (provider: ConnectionProvider) => provider.replaceAll("-", "_");

/** The name of the agent secret that contains a provider's key, such as `openai_api_key`. */
export const apiKeySecret = (provider: ConnectionProvider) => `${stem(provider)}_api_key`;

/** The name of the agent secret that contains a provider's address, such as `openai_base_url`. */
export const baseUrlSecret = (provider: ConnectionProvider) => `${stem(provider)}_base_url`;

/** The names of all agent secrets that contain a provider's key or address. */
export const providerSecrets: readonly string[] = providerNames
  .filter((provider) => provider !== "demo")
  .flatMap((provider) => [apiKeySecret(provider), baseUrlSecret(provider)]);

/** The secret that a provider needs to serve a model, a key or an address; null when `has` finds it. */
export function missingSecret(provider: ProviderName, has: (secret: string) => boolean): string | null {
  const [key, address] = [apiKeySecret(provider), baseUrlSecret(provider)];
  switch (provider) {
    case "demo":
      return null;
    case "ollama":
    case "openai-compatible":
      return has(address) ? null : address;
    case "openai":
      // At another address there may be any chat-completions server, which may need no key.
      return has(key) || has(address) ? null : key;
    default:
      return has(key) ? null : key;
  }
}

/** Environment variables in the providers' spelling, with the agent secrets that can replace them; later ones win. */
export const providerVariables: Readonly<Record<string, string>> = {
  OPENAI_API_KEY: "openai_api_key",
  OPENAI_BASE_URL: "openai_base_url",
  ANTHROPIC_API_KEY: "anthropic_api_key",
  ANTHROPIC_BASE_URL: "anthropic_base_url",
  GEMINI_API_KEY: "google_api_key",
  GOOGLE_GENERATIVE_AI_API_KEY: "google_api_key",
  GOOGLE_API_KEY: "google_api_key",
  GOOGLE_GEMINI_BASE_URL: "google_base_url",
  MISTRAL_API_KEY: "mistral_api_key",
  MISTRAL_BASE_URL: "mistral_base_url",
  OLLAMA_BASE_URL: "ollama_base_url",
  OPENAI_COMPATIBLE_API_KEY: "openai_compatible_api_key",
  OPENAI_COMPATIBLE_BASE_URL: "openai_compatible_base_url",
};

/** The environment variable that an agent secret replaces, such as `OPENAI_API_KEY`; undefined for others. */
export const variableOf = (secret: string): string | undefined =>
  Object.keys(providerVariables).find((variable) => providerVariables[variable] === secret);

/** The longest address of a provider, in characters. */
const longestAddress = 2_048;

/** Matches the path of a request to a provider, which the engine itself appends. */
const callPath = /\/(?:chat\/completions|completions|responses|messages|embeddings)\/*$/i;

/** The origin of an address, such as `https://api.openai.com`; null for no address. */
export const originOf = (address: string | null | undefined) => (address && URL.parse(address)?.origin) || null;

/** Why a text can't be a provider's address, as the end of a sentence; null when it can. */
export function addressProblem(address: string): string | null {
  if (address.length > longestAddress) return `must be at most ${longestAddress} characters long`;
  const url = URL.parse(address);
  if (!url || !/^https?:$/.test(url.protocol)) return "must be an http or https address";
  // `fetch` would refuse such an address and repeat the password in its message.
  if (url.username || url.password) return "must hold no password";
  if (/[?#]/.test(address)) return "must end with its path, without ? and #";
  const call = callPath.exec(url.pathname)?.[0].replace(/\/+$/, "");
  return call === undefined ? null : `must end before ${call}, which is added to it`;
}

/**
 * Splits `provider:model` at the first colon if a provider is before it, so that `ollama:qwen3:8b` and plain names with
 * a colon both work.
 */
export function splitModel(value: string): { provider: ProviderName | null; model: string } {
  const colon = value.indexOf(":");
  const prefix = value.slice(0, Math.max(colon, 0));
  return isProviderName(prefix)
    ? { provider: prefix, model: value.slice(colon + 1) }
    : { provider: null, model: value };
}

/**
 * Whether a provider can have a model of this name. Some providers' requests have the name in their address, so it must
 * change neither path, query nor fragment.
 */
export function isModelName(name: string): boolean {
  if (!/^[A-Za-z0-9][A-Za-z0-9._:@/-]{0,199}$/.test(name)) return false;
  return name.split("/").every((segment) => segment !== "" && segment !== "." && segment !== "..");
}

/** The rule of `isModelName` for people. */
export const modelNameRule =
  "a name of 1 to 200 letters, digits and . _ : @ / -, which begins with a letter or digit and has no empty, . or .. part between slashes";
