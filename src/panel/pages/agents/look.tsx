import { useEffect } from "preact/hooks";
import type { Instance } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useLoaded } from "../../data/list/load.ts";
import { hrefOf } from "../../data/route.ts";
import { Allowed } from "../../ui/allowed.tsx";
import { channelNames } from "../conversations/speakers.ts";
import { reasonTexts } from "../providers/words.tsx";

/** The agent's picture, or else the first letter of its name. */
export function AgentIcon({ agent: { slug, name, icon } }: { agent: Pick<Instance, "slug" | "name" | "icon"> }) {
  // Not loaded by its address: the browser would send that request without the organization.
  const { value } = useLoaded(
    async () => (icon === null ? null : URL.createObjectURL(await api.getAgentIcon({ slug }))),
    [slug, icon],
  );
  const url = value.value ?? null;
  useEffect(() => () => void (url !== null && URL.revokeObjectURL(url)), [url]);
  if (url === null || icon === null) return <span class="agent-icon">{[...name][0]?.toUpperCase()}</span>;
  return <img class="agent-icon" src={url} alt="" />;
}

/** Whether an agent answers, why its provider connection can't, and its failing channels. */
export const State = ({ agent: { active, webEnabled, providerProblem, failingChannels } }: { agent: Instance }) => (
  <span class="badges">
    <span class={`badge ${active ? (webEnabled ? "good" : "warn") : ""}`}>
      {active ? (webEnabled ? "answers" : "Web off") : "inactive"}
    </span>
    {providerProblem && <span class="badge bad">connection {reasonTexts[providerProblem]}</span>}
    {failingChannels.map(({ channelType }) => (
      <span key={channelType} class="badge bad">
        {channelNames[channelType] ?? channelType} fails
      </span>
    ))}
  </span>
);

/** The link to the form of a new agent. */
export const NewAgentLink = () => (
  <Allowed to="agent:write">
    <a class="button primary" href={hrefOf(["agents", "~new"])}>
      New agent
    </a>
  </Allowed>
);
