import { api } from "./api.ts";
import { type Loaded, useLoaded } from "./list/load.ts";
import { may } from "./session.ts";

type Agents = Awaited<ReturnType<typeof api.listAgents>>["instances"];

/** The agents within reach. */
export const useAgents = (): Loaded<Agents> =>
  useLoaded(async () => (may("agent:read") ? (await api.listAgents()).instances : []), []);

/** For a choice among them. */
export const agentChoices = ({ value }: Loaded<Agents>) =>
  (value.value ?? []).map(({ slug, name }) => ({ value: slug, label: name }));

/** A new key for an agent's chat door, which is stored with it. It can't be read again. */
export async function giveKey(slug: string): Promise<string> {
  const bytes = crypto.getRandomValues(new Uint8Array(24));
  const text = btoa(String.fromCharCode(...bytes));
  const apiKey = `sk-agent-${text.replaceAll("+", "-").replaceAll("/", "_")}`;
  await api.putAgentChannel({ slug, type: "web", body: { enabled: true, config: { apiKey } } });
  return apiKey;
}
