import type { ProviderName } from "../../core/models/providers.ts";
import type { ModelSpec } from "../../core/ports.ts";
import { readExcerpt } from "../excerpt.ts";
import type { Fetch } from "./fetch.ts";
import { checkAddress, checkKey, requireKey, withVersion } from "./spec.ts";

/** A provider's response to a request for its list of models. */
export type ModelList = { models: string[] } | { status: number; said: string };

type ListTarget = Pick<ModelSpec, "baseUrl" | "apiKey"> & { provider: Exclude<ProviderName, "demo"> };

/** The longest list, in characters; real ones are far shorter. */
const longestList = 8_000_000;

/**
 * Requests a provider's list of models, which costs nothing and shows whether address and key are right. Rejects with a
 * `ProviderSetupError` for a missing key or address, and with the error of a failed connection.
 */
export async function listModels(asked: ListTarget, fetch: Fetch, signal: AbortSignal): Promise<ModelList> {
  const { url, headers } = requestOf({ ...asked, model: "" });
  const response = await fetch(url, { headers, redirect: "manual", signal });
  const said = await readExcerpt(response.body?.getReader(), longestList);
  const models = response.ok ? idsIn(said) : null;
  return models ? { models } : { status: response.status, said };
}

function requestOf(spec: ModelSpec): { url: string; headers: Record<string, string> } {
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
    default: {
      const key = spec.provider === "ollama" ? checkKey(spec) : requireKey(spec);
      return { url: `${withVersion(checkAddress(spec), "v1")}/models`, headers: bearer(key) };
    }
  }
}

const bearer = (key: string | undefined): Record<string, string> =>
  key === undefined ? {} : { Authorization: `Bearer ${key}` };

/**
 * The ids in a list: `{ data: [{ id }] }`, or Google's `{ models: [{ name: "models/…" }] }`. Null for any other form.
 */
function idsIn(text: string): string[] | null {
  const list = listIn(text);
  if (!list) return null;
  return list.flatMap((entry: { id?: unknown; name?: unknown } | null) => {
    const id = entry?.id ?? entry?.name;
    return typeof id === "string" ? [id.replace(/^models\//, "")] : [];
  });
}

function listIn(text: string): ({ id?: unknown; name?: unknown } | null)[] | null {
  try {
    const { data, models } = JSON.parse(text);
    const list: unknown = data ?? models;
    return Array.isArray(list) ? list : null;
  } catch {
    return null;
  }
}
