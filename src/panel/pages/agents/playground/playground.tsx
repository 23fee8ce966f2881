import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Instance } from "../../../../client/index.ts";
import { ReplyView } from "../../../transcript/reply-view.tsx";
import { Button } from "../../../ui/button.tsx";
import { Note } from "../../../ui/note.tsx";
import { Waiting } from "../../../ui/waiting.tsx";
import { PlaygroundChat } from "./chat.ts";
import { Composer } from "./composer.tsx";

/** Talks to an agent as its people would, and shows what happens on the way. */
export function Playground({ agent }: { agent: Instance }) {
  const chat = useMemo(() => new PlaygroundChat(agent.slug), [agent.slug]);
  useEffect(() => {
    void chat.open();
    return () => chat.leave();
  }, [chat]);
  const end = useRef<HTMLDivElement>(null);
  const entries = chat.entries.value;
  const follows = useSignal(true);
  useEffect(() => {
    if (entries.length > 0 && follows.value) end.current?.scrollIntoView({ block: "nearest" });
  }, [entries, follows]);
  useEffect(() => {
    const onScroll = () => {
      follows.value = innerHeight + scrollY >= document.documentElement.scrollHeight - 80;
    };
    addEventListener("scroll", onScroll, { passive: true });
    return () => removeEventListener("scroll", onScroll);
  }, [follows]);
  const empty = useComputed(() => !chat.loading.value && chat.entries.value.length === 0);

  return (
    <section class="chat" aria-label={`Chat with ${agent.name}`}>
      {chat.loading.value && <Waiting lines={3} />}
      {chat.failure.value !== null && <Note look="bad">{chat.failure.value}</Note>}
      {empty.value && (
        <div class="chat-empty">
          <h2>Say something to {agent.name}</h2>
          <p class="soft">Nobody else sees this conversation but people who may read the agent's.</p>
        </div>
      )}
      <div class="chat-entries">
        {entries.map((entry, index) =>
          entry.role === "user" ? (
            <div key={index} class="question">
              <span class="unseen">You:</span>
              {entry.text}
            </div>
          ) : (
            <ReplyView
              key={index}
              reply={entry}
              conversationId={chat.conversationId}
              decide={(toolCallId, approved) => chat.decide(entry, toolCallId, approved)}
              again={index === entries.length - 1 ? () => void chat.again() : undefined}
            />
          ),
        )}
      </div>
      <Composer agent={agent} chat={chat} />
      <div ref={end} />
      {entries.length > 0 && (
        <div class="chat-after">
          <Button look="plain" small onClick={() => chat.restart()}>
            New conversation
          </Button>
        </div>
      )}
    </section>
  );
}
