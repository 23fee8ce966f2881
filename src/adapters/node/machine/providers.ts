import { type Check, fail, ok, warn } from "../../../core/check.ts";
import { type Environment, environmentKeys } from "../../../core/config.ts";
import { ProviderSetupError } from "../../../core/errors.ts";
import { type Answerer, unconfigured } from "../../../core/models/facts.ts";
import { explainProvider } from "../../../core/models/provider-failure.ts";
import {
  apiKeySecret,
  baseUrlSecret,
  defaultModels,
  missingSecret,
  type ProviderName,
  providerNames,
} from "../../../core/models/providers.ts";
import { resolveModel } from "../../../core/models/resolve.ts";
import { listModels } from "../../models/list.ts";

const name = "providers";

type Remote = Exclude<ProviderName, "demo">;
const remote = providerNames.filter((provider): provider is Remote => provider !== "demo");

const missingIn = (keys: ReadonlyMap<string, string>, provider: ProviderName) =>
  missingSecret(provider, (secret) => keys.has(secret));
const isConfigured = (keys: ReadonlyMap<string, string>, provider: ProviderName) => missingIn(keys, provider) === null;

/** Checks which model providers have keys in the environment; agents may have keys of their own. */
export function checkProviders(environment: Environment): Check {
  const keys = environmentKeys(environment);
  const configured = remote.filter((provider) => isConfigured(keys, provider));
  const others = remote.filter((provider) => !isConfigured(keys, provider));
  const half = others.filter((provider) => keys.has(apiKeySecret(provider)) || keys.has(baseUrlSecret(provider)));
  if (half.length > 0) {
    const missing = half.map((provider) => {
      const lacks = missingIn(keys, provider) === baseUrlSecret(provider) ? "address" : "key";
      return `${provider} lacks its ${lacks}`;
    });
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

/** Statuses of servers that can chat but not list models. */
const listless: ReadonlySet<number> = new Set([404, 405, 501]);

/**
 * Requests the models of each provider in the environment, all at once and for at most 5 seconds, to find a wrong key,
 * a wrong address or a missing default model here and not in the first chat. `preset` is the policy `defaultModel`;
 * null when unset or unknown.
 */
export function callProviders(environment: Environment, preset: string | null, timeoutMs = 5_000): Promise<Check[]> {
  const keys = environmentKeys(environment);
  const configured = remote.filter((provider) => isConfigured(keys, provider));
  const facts = { ...unconfigured, environment: keys, defaultModel: preset };
  // The model of agents that have none of their own.
  const { wanted: usual } = resolveModel("chat", facts);
  return Promise.all(configured.map((provider) => callProvider(provider, { keys, usual, timeoutMs })));
}

interface CallOptions {
  keys: ReadonlyMap<string, string>;
  usual: Pick<Answerer, "provider" | "model"> | null;
  timeoutMs: number;
}

const nameOf = (provider: Remote) => `provider ${provider}`;

async function callProvider(provider: Remote, { keys, usual, timeoutMs }: CallOptions): Promise<Check> {
  const name = nameOf(provider);
  const apiKey = keys.get(apiKeySecret(provider));
  const baseUrl = keys.get(baseUrlSecret(provider));
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const listed = await listModels({ provider, apiKey, baseUrl }, fetch, signal);
    if ("status" in listed) return refused(provider, listed);
    const model = usual?.provider === provider ? usual.model : undefined;
    if (model === undefined) return ok(name, `It answers, and lists ${listed.models.length} models`);
    // A list may contain a model only under dated names.
    const has = listed.models.some((id) => id === model || id.startsWith(`${model}-`));
    if (has) return ok(name, `It answers, and has ${model}`);
    const advice = "set the policy defaultModel to one that it has";
    return warn(name, `It does not list ${model}, which agents without a model use: ${advice}`);
  } catch (error) {
    if (error instanceof ProviderSetupError) return fail(name, error.message);
    const why = signal.aborted ? `No answer within ${timeoutMs / 1000} seconds` : explainProvider({ error });
    return fail(name, `${why}: check its address and this machine's way out`);
  }
}

function refused(provider: Remote, { status, said }: { status: number; said: string }): Check {
  const name = nameOf(provider);
  const meaning = status === 404 ? "Its API is not at this address (status 404)" : explainProvider({ status, said });
  const itself = defaultModels[provider] !== undefined;
  if (listless.has(status) && !itself) return warn(name, `It lists no models (status ${status}): not checked`);
  if (status === 429 || status >= 500) return warn(name, `${meaning}: try again later`);
  return fail(name, `${meaning}: set another key or address`);
}
