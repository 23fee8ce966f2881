import type { Services } from "../../context/ctx.ts";
import { toBase64 } from "../../core/ids.ts";
import { type AgentTracing, type Collector, keyPairProblem, type ProjectKey } from "../../core/tracing.ts";
import type { StartedCompletion } from "../../turn/observers.ts";

/** Langfuse's own cloud (decisions §11). */
const usualBaseUrl = "https://cloud.langfuse.com";

/** The key to a traced agent's project; null without a valid one. */
export function projectKeyOf({ policies }: Pick<Services, "policies">, { apiKey }: AgentTracing): ProjectKey | null {
  if (apiKey === undefined || keyPairProblem(apiKey) !== null) return null;
  const baseUrl = policies.values.tracingBaseUrl ?? usualBaseUrl;
  return { baseUrl, authorization: `Basic ${toBase64(new TextEncoder().encode(apiKey))}` };
}

type Owner = Pick<StartedCompletion, "agent" | "tracing">;

/** The collector of an agent's project; null for an agent that is not traced, and without a valid key. */
export type AgentCollectors = (of: Owner) => Collector | null;

/** Makes a collector once for each copy of an agent and each address, and then also checks the agent's settings. */
export function agentCollectors(
  services: Pick<Services, "policies" | "options">,
  look: (slug: string, tracing: AgentTracing) => Promise<unknown>,
): AgentCollectors {
  const made = new WeakMap<AgentTracing, { base: string | null; collector: Collector | null }>();
  return ({ agent, tracing }) => {
    if (!tracing) return null;
    const base = services.policies.values.tracingBaseUrl;
    const known = made.get(tracing);
    if (known?.base === base) return known.collector;
    const key = projectKeyOf(services, tracing);
    const collector = key && collectorOf(key, agent.slug, services.options.version);
    made.set(tracing, { base, collector });
    // Never rejects; no turn waits for it.
    void look(agent.slug, tracing);
    return collector;
  };
}

function collectorOf({ baseUrl, authorization }: ProjectKey, slug: string, version: string): Collector {
  return {
    id: `${baseUrl} ${authorization}`,
    name: `${URL.parse(baseUrl)?.host ?? ""} for the agent ${slug}`,
    url: `${baseUrl}/api/public/otel/v1/traces`,
    headers: { Authorization: authorization },
    resource: { "service.name": "agent-engine", "service.version": version },
  };
}
