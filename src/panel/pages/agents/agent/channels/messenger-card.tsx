import { useSignal } from "@preact/signals";
import type { Channel, ChannelTest } from "../../../../../client/index.ts";
import { api } from "../../../../data/api.ts";
import { may } from "../../../../data/session.ts";
import { useActs } from "../../../../ui/act-button.tsx";
import { Button } from "../../../../ui/button.tsx";
import { Card } from "../../../../ui/card.tsx";
import { ConfirmButton } from "../../../../ui/dialog/buttons.tsx";
import { Failure, Note } from "../../../../ui/note.tsx";
import { Time } from "../../../../ui/text/time.tsx";
import { ChannelFields } from "./channel-fields.tsx";
import { Messages } from "./messages.tsx";
import type { Messenger, Values } from "./messengers.tsx";

interface Props {
  slug: string;
  /** The agent's name. */
  name: string;
  messenger: Messenger;
  /** Undefined when it was never set up. */
  channel: Channel | undefined;
  onChange: () => Promise<void>;
}

/** A messenger: its setup, its state, and its messages. */
export function MessengerCard({ slug, name, messenger, channel, onChange }: Props) {
  const { type, title, needs } = messenger;
  const path = { slug, type };
  const stored = storedOf(channel);
  const isSetUp = messenger.fields(stored).some(({ name: field }) => field !== "mode" && field in stored);
  /** Undefined as long as the person has neither opened nor closed it. */
  const opened = useSignal<boolean | undefined>(undefined);
  const test = useSignal<ChannelTest | null>(null);
  const act = useActs(onChange);
  const changed = async () => {
    test.value = null;
    await onChange();
  };
  const ask = async () => {
    test.value = null;
    test.value = await api.testAgentChannel(path);
  };
  const open = opened.value ?? (isSetUp && channel?.status === "failing");
  return (
    <Card
      title={title}
      lead={
        <>
          <State channel={channel} isSetUp={isSetUp} /> {!isSetUp && needs}
          {isSetUp && channel && <Traffic channel={channel} />}
        </>
      }
    >
      {channel?.lastError != null && <Note look="bad">{channel.lastError}</Note>}
      {open && (
        <ChannelFields path={path} name={name} messenger={messenger} stored={isSetUp ? stored : {}} onSaved={changed} />
      )}
      {test.value && <TestResult test={test.value} />}
      <Failure error={act.error} />
      <div class="actions">
        {!open && may("agent.channel:write") && (
          <Button
            look={isSetUp ? undefined : "primary"}
            onClick={() => {
              opened.value = true;
            }}
          >
            {isSetUp ? "Settings" : "Set up"}
          </Button>
        )}
        {open && (
          <Button
            onClick={() => {
              opened.value = false;
            }}
          >
            Close
          </Button>
        )}
        {isSetUp && channel && may("agent.channel:write") && (
          <>
            <Button busy={act.busy} onClick={() => void act.run(ask)}>
              {act.busy ? "Asking…" : "Test"}
            </Button>
            <Button
              busy={act.busy}
              onClick={() => void act.run(() => api.putAgentChannel({ ...path, body: { enabled: !channel.enabled } }))}
            >
              {channel.enabled ? "Turn off" : "Turn on"}
            </Button>
            <ConfirmButton
              label="Remove"
              title={`Remove ${title}?`}
              action="Remove the channel"
              onConfirm={() => api.deleteAgentChannel(path)}
              said={`${title} is removed`}
              onDone={changed}
            >
              Its stored credentials are deleted. People who write are not answered any more.
            </ConfirmButton>
          </>
        )}
      </div>
      {isSetUp && channel && (
        <Messages slug={slug} type={type} last={`${channel.lastReceivedAt} ${channel.lastSentAt}`} />
      )}
    </Card>
  );
}

/** The stored settings as texts. */
function storedOf(channel: Channel | undefined): Values {
  const texts = Object.entries(channel?.config ?? {}).filter(([, value]) => typeof value === "string" && value !== "");
  return Object.fromEntries(texts) as Values;
}

const looks = { off: "", starting: "warn", running: "good", failing: "bad" } as const;
const words = { off: "off", starting: "starting…", running: "running", failing: "failing" } as const;

function State({ channel, isSetUp }: { channel: Channel | undefined; isSetUp: boolean }) {
  if (!channel || !isSetUp) return null;
  return <span class={`badge ${looks[channel.status]}`}>{words[channel.status]}</span>;
}

const Traffic = ({ channel: { lastReceivedAt, lastSentAt } }: { channel: Channel }) => (
  <span class="soft">
    {lastReceivedAt === null ? (
      "Nobody has written yet."
    ) : (
      <>
        Last message <Time at={lastReceivedAt} />
      </>
    )}
    {lastSentAt !== null && (
      <>
        , last answer <Time at={lastSentAt} />
      </>
    )}
  </span>
);

const checkNames = { credentials: "Credentials", webhook: "Address", reachable: "Reachable" } as const;

const TestResult = ({ test: { ok, checks } }: { test: ChannelTest }) => (
  <Note look={ok ? "good" : "bad"}>
    {checks.map((check) => (
      <p key={check.name}>
        <b>
          {checkNames[check.name]}: {check.ok ? "fine" : "not fine"}.
        </b>{" "}
        {check.message}
      </p>
    ))}
  </Note>
);
