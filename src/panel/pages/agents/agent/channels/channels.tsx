import type { Channel } from "../../../../../client/index.ts";
import { api } from "../../../../data/api.ts";
import { useLoaded, useRefresh } from "../../../../data/list/load.ts";
import { useActs } from "../../../../ui/act-button.tsx";
import { Allowed } from "../../../../ui/allowed.tsx";
import { Button } from "../../../../ui/button.tsx";
import { Card } from "../../../../ui/card.tsx";
import { WhenLoaded } from "../../../../ui/list/when-loaded.tsx";
import { Failure } from "../../../../ui/note.tsx";
import type { TabProps } from "../tab-props.ts";
import { MessengerCard } from "./messenger-card.tsx";
import { messengers } from "./messengers.tsx";
import { Web, WebSettings } from "./web.tsx";

/** The interval at which the states are read, in milliseconds, while a channel is starting. */
const quickMs = 2_000;
const calmMs = 5_000;

/** The agent's channels for programs and people. */
export function Channels({ agent, onChange }: TabProps) {
  const { slug } = agent;
  const channels = useLoaded(async () => (await api.listAgentChannels({ slug })).channels, [slug]);
  const starts = channels.value.value?.some(({ status }) => status === "starting");
  useRefresh(channels.reload, starts ? quickMs : calmMs);
  const changed = async () => {
    await Promise.all([channels.reload(), onChange()]);
  };
  const of = <Type extends Channel["channelType"]>(type: Type) =>
    channels.value.value?.find((one): one is Extract<Channel, { channelType: Type }> => one.channelType === type);
  const web = of("web");
  return (
    <div class="form">
      <Web agent={agent} onChange={changed} />
      <WhenLoaded of={channels}>
        {() => (
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
      </WhenLoaded>
    </div>
  );
}

interface AskingProps {
  slug: string;
  enabled: boolean;
  onChange: () => Promise<void>;
}

/** Whether other agents may call this one. */
function AskingAgents({ slug, enabled, onChange }: AskingProps) {
  const act = useActs(onChange);
  const turn = () => api.putAgentChannel({ slug, type: "agent", body: { enabled: !enabled } });
  return (
    <Card
      title="Other agents"
      lead={
        enabled
          ? `Agents of this organization that have the tool agent:${slug} may ask this one.`
          : "Off: no other agent may ask this one."
      }
    >
      <Failure error={act.error} />
      <Allowed to="agent.channel:write">
        <div class="actions">
          <Button busy={act.busy} onClick={() => void act.run(turn)}>
            {enabled ? "Turn off" : "Turn on"}
          </Button>
        </div>
      </Allowed>
    </Card>
  );
}
