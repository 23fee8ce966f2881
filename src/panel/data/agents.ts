import { api } from "./api.ts";
import { type Loaded, useLoaded } from "./load.ts";
import { may } from "./session.ts";

type Agents = Awaited<ReturnType<typeof api.listAgents>>["instances"];

/** The agents within reach. */
export const useAgents = (): Loaded<Agents> =>
  useLoaded(async () => (may("agent:read") ? (await api.listAgents()).instances : []), []);

/** For a choice among them. */
export const agentChoices = ({ value }: Loaded<Agents>) =>
  (value.value ?? []).map(({ slug, name }) => ({ value: slug, label: name }));
