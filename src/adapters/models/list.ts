import type { ModelList, ProviderSettings } from "../../core/ports.ts";
import { readExcerpt } from "../excerpt.ts";
import type { Fetch } from "./fetch.ts";
import { checkAddress, checkKey, requireKey, withVersion } from "./spec.ts";

/** The longest list, in characters; real ones are far shorter. */
const longestList = 2_000_000;

/**
 * Requests a provider's list of models, which costs nothing and shows whether address and key are right. Rejects with a
 * `ProviderSetupError` for a missing key or address, and with the error of a failed connection.
 */
export async function listModels(settings: ProviderSettings, fetch: Fetch, signal: AbortSignal): Promise<ModelList> {
  if (settings.provider === "demo") return { models: ["demo"] };
  const { url, headers } = requestOf(settings);
  const response = await fetch(url, { headers, redirect: "manual", signal });
  const said = await readExcerpt(response.body?.getReader(), longestList);
  const models = response.ok ? idsIn(said) : null;
  return models ? { models } : { status: response.status, said };
}

function requestOf(spec: ProviderSettings): { url: string; headers: Record<string, string> } {
  switch (spec.provider) {
    case "anthropic":
      return {
        url: `${withVersion(checkAddress(spec), "v1")}/models?limit=1000`,
        headers: { "x-api-key": requireKey(spec), "anthropic-version": "2023-06-01" },
      };
    case "google":
      return {
        url: `${withVersion(checkAddress(spec), "v1beta")}/models?pageSize=1000`,
        headers: { "x-goog-api-key": requireKey(spec) },
      };
    case "openai-compatible":
      return { url: `${checkAddress(spec)}/models`, headers: bearer(checkKey(spec)) };
    case "openai":
      // At another address there is a compatible server, which may need no key.
      if (spec.baseUrl !== undefined) return { url: `${checkAddress(spec)}/models`, headers: bearer(checkKey(spec)) };
      return { url: `${withVersion(checkAddress(spec), "v1")}/models`, headers: bearer(requireKey(spec)) };
    case "deepgram":
      // It lists its models to everybody, and projects only to the holder of a key.
      return {
        url: `${withVersion(checkAddress(spec), "v1")}/projects`,
        headers: { Authorization: `Token ${requireKey(spec)}` },
      };
    case "elevenlabs":
      return {
        url: `${withVersion(checkAddress(spec), "v1")}/models`,
        headers: { "xi-api-key": requireKey(spec) },
      };
    default: {
      const key = spec.provider === "ollama" ? checkKey(spec) : requireKey(spec);
      return { url: `${withVersion(checkAddress(spec), "v1")}/models`, headers: bearer(key) };
    }
  }
}

const bearer = (key: string | undefined): Record<string, string> =>
  key === undefined ? {} : { Authorization: `Bearer ${key}` };

/**
 * The ids in a list: `{ data: [{ id }] }`, Google's `{ models: [{ name: "models/…" }] }`, Deepgram's `{ projects: […] }`,
 * or ElevenLabs' `[{ model_id }]`. Null for any other form.
 */
function idsIn(text: string): string[] | null {
  const list = listIn(text);
  if (!list) return null;
  return list.flatMap((entry) => {
    const id = entry?.id ?? entry?.model_id ?? entry?.name;
    return typeof id === "string" ? [id.replace(/^models\//, "")] : [];
  });
}

interface ListEntry {
  id?: unknown;
  model_id?: unknown;
  name?: unknown;
}

function listIn(text: string): (ListEntry | null)[] | null {
  try {
    const whole = JSON.parse(text);
    const list: unknown = Array.isArray(whole) ? whole : (whole.data ?? whole.models ?? whole.projects);
    return Array.isArray(list) ? list : null;
  } catch {
    return null;
  }
}
