import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Instance } from "../../../../client/index.ts";
import { draftOf, keepDraft } from "../../../data/form/drafts.ts";
import { wordsOf } from "../../../transcript/reply.ts";
import { Allowed } from "../../../ui/allowed.tsx";
import { Button } from "../../../ui/button.tsx";
import { copyText } from "../../../ui/text/code.tsx";
import { tell, tellFailure } from "../../../ui/toast.tsx";
import type { TabProps } from "../agent/tab-props.ts";
import { curlOf } from "../curl.ts";
import type { PlaygroundChat } from "./chat.ts";
import { ChatView } from "./chat-view.tsx";
import { Comparison } from "./comparison.tsx";
import { Dock } from "./composer.tsx";
import { useChat } from "./use-chat.ts";

/** Chats with an agent as its users would, and shows the steps. */
export function Playground({ agent }: TabProps) {
  const place = `compare.${agent.slug}`;
  const compares = useSignal(draftOf<{ on: boolean }>(place)?.on === true);
  const turn = (on: boolean) => {
    compares.value = on;
    keepDraft(place, on ? { on } : null);
  };
  if (compares.value) return <Comparison agent={agent} onEnd={() => turn(false)} />;
  return <Single agent={agent} onCompare={() => turn(true)} />;
}

function Single({ agent, onCompare }: { agent: Instance; onCompare: () => void }) {
  const chat = useChat(agent.slug, "alone", null);
  const follows = useSignal(true);
  const entries = chat.entries.value;
  useEffect(() => {
    if (entries.length > 0 && follows.value) scrollTo(0, document.documentElement.scrollHeight);
  }, [entries, follows]);
  useEffect(() => {
    const onScroll = () => {
      follows.value = innerHeight + scrollY >= document.documentElement.scrollHeight - 80;
    };
    addEventListener("scroll", onScroll, { passive: true });
    return () => removeEventListener("scroll", onScroll);
  }, [follows]);
  const empty = (
    <div class="chat-empty">
      <h2>Say something to {agent.name}</h2>
      <p class="soft">Nobody else sees this conversation but people who may read the agent's.</p>
    </div>
  );
  return (
    <section class="chat" aria-label={`Chat with ${agent.name}`}>
      <ChatView chat={chat} empty={empty} />
      <Dock agent={agent} chats={[chat]}>
        {entries.length > 0 && (
          <>
            <Button look="plain" small onClick={() => chat.restart()}>
              New conversation
            </Button>
            <Button look="plain" small onClick={() => copyAsCurl(agent, chat).catch(tellFailure)}>
              Copy as curl
            </Button>
          </>
        )}
        <Allowed to="agent:write">
          <Button look="plain" small onClick={onCompare}>
            Compare two models
          </Button>
        </Allowed>
      </Dock>
    </section>
  );
}

/** Copies the conversation up to its last question, as a shell command into which the agent's key must be put. */
async function copyAsCurl({ slug }: Instance, chat: PlaygroundChat): Promise<void> {
  const entries = chat.entries.value;
  const last = entries.findLastIndex(({ role }) => role === "user");
  const messages = entries.slice(0, last + 1).flatMap((entry) => {
    const content = entry.role === "user" ? entry.text : wordsOf(entry);
    return content === "" ? [] : [{ role: entry.role, content }];
  });
  await copyText(curlOf(slug, "AGENT_API_KEY", messages));
  tell("Copied. Put the agent's key in place of AGENT_API_KEY.");
}
