import type { ConnectionProvider } from "./providers.ts";

/** The purposes for which an agent calls models (managed edition, M6). */
export const providerRoles = ["chat", "fast", "embedding", "transcription", "speech"] as const;
export type ProviderRole = (typeof providerRoles)[number];

const withoutEmbeddings: readonly ConnectionProvider[] = ["anthropic", "demo"];
const withSpeech: readonly ConnectionProvider[] = ["openai", "openai-compatible", "deepgram", "elevenlabs"];
const withSpeechAlone: readonly ConnectionProvider[] = ["deepgram", "elevenlabs"];

export function canServe(provider: ConnectionProvider, role: ProviderRole): boolean {
  if (role === "transcription" || role === "speech") return withSpeech.includes(provider);
  if (withSpeechAlone.includes(provider)) return false;
  return role !== "embedding" || !withoutEmbeddings.includes(provider);
}
