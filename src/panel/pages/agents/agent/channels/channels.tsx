import type { Channel } from "../../../../../client/index.ts";
import { api } from "../../../../data/api.ts";
import { useLoaded } from "../../../../data/load.ts";
import { useRefresh } from "../../../../data/refresh.ts";
import { Failure } from "../../../../ui/note.tsx";
import { Waiting } from "../../../../ui/waiting.tsx";
import type { TabProps } from "../tab-props.ts";
import { AskingAgents } from "./asking-agents.tsx";
import { MessengerCard } from "./messenger-card.tsx";
import { messengers } from "./messengers.tsx";
import { Web } from "./web.tsx";
import { WebSettings } from "./web-settings.tsx";

/** How often the states are read: a channel that starts is ready a moment later. */
const quickMs = 2_000;
const calmMs = 5_000;

/** How programs and people reach the agent. */
export function Channels({ agent, onChange }: TabProps) {
  const { slug } = agent;
  const { value, error, reload } = useLoaded(async () => (await api.listAgentChannels({ slug })).channels, [slug]);
  const channels = value.value;
  useRefresh(reload, channels?.some(({ status }) => status === "starting") ? quickMs : calmMs);
  const changed = async () => {
    await Promise.all([reload(), onChange()]);
  };
  const of = <Type extends Channel["channelType"]>(type: Type) =>
    channels?.find((one): one is Extract<Channel, { channelType: Type }> => one.channelType === type);
  const web = of("web");
  return (
    <div class="form">
      <Web agent={agent} onChange={changed} />
      <Failure error={error.value} retry={reload} />
      {!channels && error.value === undefined && <Waiting />}
      {channels && (
        <>
          {web && agent.webEnabled && <WebSettings slug={slug} config={web.config} onChange={changed} />}
          {messengers.map((messenger) => (
            <MessengerCard
              key={messenger.type}
              slug={slug}
              name={agent.name}
              messenger={messenger}
              channel={of(messenger.type)}
              onChange={changed}
            />
          ))}
          <AskingAgents slug={slug} enabled={of("agent")?.enabled === true} onChange={changed} />
        </>
      )}
    </div>
  );
}
