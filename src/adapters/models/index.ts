import { EgressError } from "../../core/egress/target.ts";
import type { ProviderName } from "../../core/models/providers.ts";
import type { ModelSpec, Models, StreamingModel } from "../../core/ports.ts";
import { anthropic } from "./anthropic.ts";
import { demoModel } from "./demo.ts";
import { embed } from "./embed.ts";
import { type Fetch, providerFetch } from "./fetch.ts";
import { google } from "./google.ts";
import { listModels } from "./list.ts";
import { mistral } from "./mistral.ts";
import { ollama, openAi, openAiCompatible } from "./openai.ts";
import { fetchOver, type Post, postOver } from "./post.ts";
import { withoutRefused } from "./refusals.ts";
import { checkModel } from "./spec.ts";
import { withValidPrompts } from "./valid.ts";

/** The most models in the cache: enough for all in use. A model that was dropped is made again. */
const cacheLimit = 500;

interface Options {
  /** The `fetch` to the providers, where `post` is not used; the runtime's own by default. */
  fetch?: Fetch;
  /** Sends requests to providers cheaper than `fetch`, if the runtime can, without time limits of its own. */
  post?: Post;
  /** Makes the `fetch` for addresses that agents name. It reaches only public addresses and the given hosts. */
  guarded?: (allowedHosts: readonly string[]) => Fetch;
  /** Replaces the runtime's clock: milliseconds since the epoch. */
  now?: () => number;
}

/** For a runtime that can't check where a connection leads: refuses every address that an agent names. */
const unguarded = (): Fetch => async () => {
  throw new EgressError("This server reaches no addresses that agents name");
};

/**
 * The model providers of this build (decisions §4). `resolve` rejects with an `Error` for the log when a key or an
 * address is missing or unusable. Models retry nothing and follow no redirect. Equal specs get the same model.
 */
export function createModels({ guarded = unguarded, now = Date.now, ...given }: Options = {}): Models {
  const get: Fetch = given.fetch ?? ((input, init) => globalThis.fetch(input, init));
  const fetch = given.fetch ?? (given.post ? fetchOver(given.post) : get);
  const post = given.post ?? postOver(fetch);
  const open: ProviderAccess = { fetch: providerFetch(fetch), post };
  const waysOf = ({ allowedHosts }: ModelSpec) => (allowedHosts ? waysOver(guarded(allowedHosts)) : open);
  const cache = new Map<string, StreamingModel>();

  return {
    async resolve(spec) {
      const key = JSON.stringify([spec.provider, spec.model, spec.baseUrl, spec.apiKey, spec.allowedHosts]);
      const model = cache.get(key) ?? (await make(spec, waysOf(spec), now));
      // Moves the key to the end, so that the first key is the least recently used one.
      cache.delete(key);
      cache.set(key, model);
      const oldest = cache.keys().next().value;
      if (cache.size > cacheLimit && oldest !== undefined) cache.delete(oldest);
      return model;
    },
    embed: (spec, texts, signal) => embed(spec, texts, signal, waysOf(spec).fetch),
    // Not over `post`: a list is requested with GET.
    list: (settings, signal) =>
      listModels(settings, settings.allowedHosts ? guarded(settings.allowedHosts) : get, signal),
  };
}

/** The functions that reach a provider: `fetch` for its package, or `post` for chat completions. */
interface ProviderAccess {
  fetch: Fetch;
  post: Post;
}

const waysOver = (fetch: Fetch): ProviderAccess => ({ fetch: providerFetch(fetch), post: postOver(fetch) });

async function make(spec: ModelSpec, ways: ProviderAccess, now: () => number): Promise<StreamingModel> {
  if (spec.provider === "demo") return demoModel();
  checkModel(spec);
  return withoutRefused(withValidPrompts(await connect(spec.provider, spec, ways)), now);
}

/** Loads a provider's module at its first use. */
function connect(
  provider: Exclude<ProviderName, "demo">,
  spec: ModelSpec,
  { fetch, post }: ProviderAccess,
): Promise<StreamingModel> {
  switch (provider) {
    case "openai":
      return spec.baseUrl === undefined ? openAi(spec, fetch) : openAiCompatible(spec, post);
    case "anthropic":
      return anthropic(spec, fetch);
    case "google":
      return google(spec, fetch);
    case "mistral":
      return mistral(spec, post);
    case "ollama":
      return ollama(spec, post);
    case "openai-compatible":
      return openAiCompatible(spec, post);
  }
}
