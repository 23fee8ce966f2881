import { api } from "./api.ts";
import { type LoadedValue, useLoaded } from "./list/load.ts";
import { may } from "./session.ts";

type Agents = Awaited<ReturnType<typeof api.listAgents>>["instances"];

/** The agents that the person reaches. */
export const useAgents = (): LoadedValue<Agents> =>
  useLoaded(async () => (may("agent:read") ? (await api.listAgents()).instances : []), []);

/** The agents, as choices of a select. */
export const agentChoices = ({ value }: LoadedValue<Agents>) =>
  (value.value ?? []).map(({ slug, name }) => ({ value: slug, label: name }));

/** Makes a new API key for an agent and stores it in the agent. It can't be read again. */
export async function giveKey(slug: string): Promise<string> {
  const bytes = crypto.getRandomValues(new Uint8Array(24));
  const text = btoa(String.fromCharCode(...bytes));
  const apiKey = `sk-agent-${text.replaceAll("+", "-").replaceAll("/", "_")}`;
  await api.putAgentChannel({ slug, type: "web", body: { enabled: true, config: { apiKey } } });
  return apiKey;
}
