import { useSignal } from "@preact/signals";
import type { Instance } from "../../../../client/index.ts";
import { api } from "../../../data/api.ts";
import { readCurrency } from "../../../data/currency.ts";
import { draftOf, keepDraft } from "../../../data/form/drafts.ts";
import { useLoaded } from "../../../data/list/load.ts";
import { hasFeature } from "../../../data/session.ts";
import type { Reply } from "../../../transcript/reply.ts";
import { Button } from "../../../ui/button.tsx";
import { TextField } from "../../../ui/form/field.tsx";
import { turnCostText } from "../../../ui/text/money.ts";
import { durationText } from "../../../ui/text/numbers.ts";
import type { PlaygroundChat } from "./chat.ts";
import { ChatView } from "./chat-view.tsx";
import { Dock } from "./composer.tsx";
import { useChat } from "./use-chat.ts";

interface Models {
  left: string;
  right: string;
}

interface Props {
  agent: Instance;
  onEnd: () => void;
}

/** Sends the same messages to two models, side by side. */
export function Comparison({ agent, onEnd }: Props) {
  const place = `models.${agent.slug}`;
  const models = useSignal<Models>({ left: "", right: "", ...draftOf<Models>(place) });
  const known = useLoaded(async () => (await api.listProviderModels()).models, []).value.value ?? [];
  const { left, right } = models.value;
  const chats = {
    left: useChat(agent.slug, "left", left || null),
    right: useChat(agent.slug, "right", right || null),
  };
  const choose = (changes: Partial<Models>) => {
    models.value = { ...models.value, ...changes };
    keepDraft(place, models.value);
  };
  const restart = () => {
    chats.left.restart();
    chats.right.restart();
  };
  return (
    <section class="comparison" aria-label={`Two models for ${agent.name}`}>
      <div class="sides">
        <Side title="Model" known={known} model={left} chat={chats.left} onModel={(value) => choose({ left: value })} />
        <Side
          title="Other model"
          known={known}
          model={right}
          chat={chats.right}
          onModel={(value) => choose({ right: value })}
        />
      </div>
      <Dock agent={agent} chats={[chats.left, chats.right]}>
        <Button look="plain" small onClick={restart}>
          New conversation
        </Button>
        <Button look="plain" small onClick={onEnd}>
          One model again
        </Button>
      </Dock>
    </section>
  );
}

interface SideProps {
  title: string;
  /** The models to choose from. */
  known: readonly string[];
  model: string;
  chat: PlaygroundChat;
  onModel: (model: string) => void;
}

const Side = ({ title, known, model, chat, onModel }: SideProps) => (
  <section class="side" aria-label={title}>
    <TextField
      label={title}
      suggestions={known}
      placeholder="The agent's own"
      problem={
        model === "" || /^[a-z-]+:./.test(model) ? undefined : "Write provider:model; until then its own answers"
      }
      autocapitalize="none"
      spellcheck={false}
      value={model}
      onValue={onModel}
    />
    <ChatView
      chat={chat}
      empty={<p class="soft">What you write below goes to both.</p>}
      after={(reply) => <Price conversationId={chat.conversationId} reply={reply} />}
    />
  </section>
);

/** The tokens, the time and the cost of a reply. */
function Price({ conversationId, reply: { messageId } }: { conversationId: string; reply: Reply }) {
  const { value } = useLoaded(async () => {
    if (messageId === null) return null;
    const [{ turn }, currency] = await Promise.all([
      api.getTurn({ conversationId, turnId: messageId }),
      readCurrency(),
    ]);
    return { turn, currency };
  }, [messageId]);
  if (!value.value) return <p class="price">&nbsp;</p>;
  const { turn, currency } = value.value;
  const { provider, model, promptTokens, completionTokens, ttftMs, durationMs } = turn;
  const times = [
    ttftMs !== null && `first output ${durationText(ttftMs)}`,
    durationMs !== null && `all ${durationText(durationMs)}`,
  ];
  const cost = hasFeature("providers") && `cost ${turnCostText(turn, currency)}`;
  return (
    <p class="price">
      {[provider, model].filter((part) => part !== null).join(" · ")}
      <br />
      {[...times, `${promptTokens} tokens in, ${completionTokens} out`, cost].filter(Boolean).join(" · ")}
    </p>
  );
}
