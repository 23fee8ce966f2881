import { useSignal } from "@preact/signals";
import { lazy, Suspense } from "preact/compat";
import { Markdown } from "../../markdown/markdown.tsx";
import { Button } from "../../ui/button.tsx";
import { copyText } from "../../ui/code.tsx";
import { Note } from "../../ui/note.tsx";
import { tell, tellFailure } from "../../ui/toast.tsx";
import type { PlaygroundChat } from "./chat.ts";
import { type Part, type Reply, wordsOf } from "./reply.ts";
import { ToolView } from "./tool-view.tsx";

const WhyDialog = lazy(async () => ({ default: (await import("./why.tsx")).WhyDialog }));

interface Props {
  reply: Reply;
  chat: PlaygroundChat;
  /** It is the newest entry. */
  last: boolean;
}

/** A reply as it comes in: reasoning, calls of tools, text, and what went wrong. */
export function ReplyView({ reply, chat, last }: Props) {
  const why = useSignal(false);
  const { parts, state, error, messageId } = reply;
  const copy = async () => {
    await copyText(wordsOf(reply));
    tell("Copied");
  };
  return (
    <article class="reply" aria-busy={state === "running"}>
      <div aria-live="polite">
        {parts.map((part, index) => (
          <PartView key={index} part={part} reply={reply} chat={chat} />
        ))}
        {state === "running" && parts.length === 0 && <p class="soft">Thinking…</p>}
        {state === "stopped" && <p class="soft">Stopped here.</p>}
      </div>
      {error !== null && (
        <Note look="bad">
          <p>{error}</p>
          {last && state !== "running" && (
            <p>
              <Button small onClick={() => void chat.again()}>
                Ask again
              </Button>
            </p>
          )}
        </Note>
      )}
      {state !== "running" && (
        <footer>
          {wordsOf(reply) !== "" && (
            <Button look="plain" small onClick={() => copy().catch(tellFailure)}>
              Copy
            </Button>
          )}
          {messageId !== null && (
            <Button
              look="plain"
              small
              onClick={() => {
                why.value = true;
              }}
            >
              Why this answer
            </Button>
          )}
        </footer>
      )}
      {why.value && messageId !== null && (
        <Suspense fallback={null}>
          <WhyDialog
            conversationId={chat.conversationId}
            turnId={messageId}
            onClose={() => {
              why.value = false;
            }}
          />
        </Suspense>
      )}
    </article>
  );
}

function PartView({ part, reply, chat }: { part: Part; reply: Reply; chat: PlaygroundChat }) {
  switch (part.type) {
    case "text":
      return <Markdown text={part.text} />;
    case "reasoning":
      return (
        <details class="step" open={reply.state === "running"}>
          <summary>Reasoning</summary>
          <div class="reasoning">{part.text}</div>
        </details>
      );
    case "tool":
      return <ToolView part={part} waits={reply.waiting.includes(part.id)} reply={reply} chat={chat} />;
    case "hook":
      return (
        <p class="soft hook">
          Hook {part.toolName} ({part.event}): {part.success ? "ran" : "failed"} in {part.durationMs} ms
        </p>
      );
  }
}
