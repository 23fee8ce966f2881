import { Suspense } from "preact/compat";
import { Markdown } from "../markdown/markdown.tsx";
import { Button } from "../ui/button.tsx";
import { DialogButton } from "../ui/dialog/buttons.tsx";
import { Note } from "../ui/note.tsx";
import { Cause } from "../ui/text/cause.tsx";
import { copyText } from "../ui/text/code.tsx";
import { tell, tellFailure } from "../ui/toast.tsx";
import { lazily } from "../ui/waiting.tsx";
import { type Part, type Reply, wordsOf } from "./reply.ts";
import { type Decide, ToolView } from "./tool-view.tsx";

const WhyDialog = lazily(async () => (await import("./why.tsx")).WhyDialog);

interface Props {
  reply: Reply;
  conversationId: string;
  decide: Decide;
  /** Sends the question again; absent when that is impossible. */
  again?: (() => void) | undefined;
}

/** A reply as it arrives: reasoning, tool calls, text, and errors. */
export function ReplyView({ reply, conversationId, decide, again }: Props) {
  const { parts, state, error, messageId } = reply;
  const running = state === "running";
  const copy = async () => {
    await copyText(wordsOf(reply));
    tell("Copied");
  };
  return (
    <article class="reply" aria-busy={running}>
      {/* A browser's translator replaces text nodes, which then would not grow any more. */}
      <div aria-live="polite" translate={!running}>
        {parts.map((part, index) => (
          <PartView key={index} part={part} reply={reply} decide={decide} />
        ))}
        {running && parts.length === 0 && <p class="soft">Thinking…</p>}
        {state === "stopped" && <p class="soft">Stopped here.</p>}
      </div>
      {error !== null && (
        <Note look="bad">
          <p>
            <Cause text={error} />
          </p>
          {again && !running && (
            <p>
              <Button small onClick={again}>
                Ask again
              </Button>
            </p>
          )}
        </Note>
      )}
      {!running && (
        <footer>
          {wordsOf(reply) !== "" && (
            <Button look="plain" small onClick={() => copy().catch(tellFailure)}>
              Copy
            </Button>
          )}
          {messageId !== null && (
            <DialogButton
              look="plain"
              small
              dialog={(onClose) => (
                <Suspense fallback={null}>
                  <WhyDialog {...{ conversationId, turnId: messageId, onClose }} />
                </Suspense>
              )}
            >
              Why this answer
            </DialogButton>
          )}
        </footer>
      )}
    </article>
  );
}

function PartView({ part, reply, decide }: { part: Part; reply: Reply; decide: Decide }) {
  // Translators notice only new nodes, so a text gets a new node when it is complete.
  const key = reply.state === "running" ? "grows" : "complete";
  switch (part.type) {
    case "text":
      return <Markdown key={key} text={part.text} />;
    case "reasoning":
      return (
        <details class="step" open={key === "grows"}>
          <summary>Reasoning</summary>
          <div key={key} class="reasoning">
            {part.text}
          </div>
        </details>
      );
    case "tool":
      return <ToolView part={part} decide={reply.waiting.includes(part.id) ? decide : undefined} />;
    case "hook":
      return (
        <p class="soft hook">
          Hook {part.toolName} ({part.event}): {part.success ? "ran" : "failed"} in {part.durationMs} ms
        </p>
      );
  }
}
