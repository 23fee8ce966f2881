import type { ProviderConnection } from "../../../client/index.ts";

/** The providers of language models, as people know them. */
export const providers = [
  { value: "openai", label: "OpenAI" },
  { value: "anthropic", label: "Anthropic" },
  { value: "google", label: "Google" },
  { value: "mistral", label: "Mistral" },
  { value: "ollama", label: "Ollama" },
  { value: "openai-compatible", label: "OpenAI-compatible" },
  { value: "demo", label: "Demo (no language model)" },
] as const;

export type ProviderName = (typeof providers)[number]["value"];

export type ConnectionProvider = ProviderConnection["provider"];

/** The providers of connections: those of language models, and those of speech alone. */
export const connectionProviders: readonly { value: ConnectionProvider; label: string }[] = [
  ...providers,
  { value: "deepgram", label: "Deepgram" },
  { value: "elevenlabs", label: "ElevenLabs" },
];

export const labelOfProvider = (provider: ConnectionProvider) =>
  connectionProviders.find(({ value }) => value === provider)?.label ?? provider;

/** The names of a provider's secrets. */
export const secretsOf = (provider: ProviderName) => {
  const name = provider.replaceAll("-", "_");
  return { key: `${name}_api_key`, baseUrl: `${name}_base_url` };
};

/** Whether a provider needs a key, and whether it needs an address. */
export const needsOf: Readonly<Record<ConnectionProvider, { key: boolean; baseUrl: boolean }>> = {
  openai: { key: true, baseUrl: false },
  anthropic: { key: true, baseUrl: false },
  google: { key: true, baseUrl: false },
  mistral: { key: true, baseUrl: false },
  ollama: { key: false, baseUrl: true },
  "openai-compatible": { key: true, baseUrl: true },
  demo: { key: false, baseUrl: false },
  deepgram: { key: true, baseUrl: false },
  elevenlabs: { key: true, baseUrl: false },
};
