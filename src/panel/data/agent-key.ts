import { api } from "./api.ts";

/** A new key for an agent's chat door, which is stored with it. It can't be read again. */
export async function giveKey(slug: string): Promise<string> {
  const bytes = crypto.getRandomValues(new Uint8Array(24));
  const text = btoa(String.fromCharCode(...bytes));
  const apiKey = `sk-agent-${text.replaceAll("+", "-").replaceAll("/", "_")}`;
  await api.putAgentChannel({ slug, type: "web", body: { enabled: true, config: { apiKey } } });
  return apiKey;
}
