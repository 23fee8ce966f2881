import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import type { Instance } from "../../../../client/index.ts";
import { draftOf, keepDraft } from "../../../data/form/drafts.ts";
import { isEnter } from "../../../data/keys.ts";
import { Button } from "../../../ui/button.tsx";
import { tellFailure } from "../../../ui/toast.tsx";
import type { PlaygroundChat } from "./chat.ts";

interface ComposerProps {
  agent: Instance;
  /** The chats that get the message. */
  chats: readonly PlaygroundChat[];
}

/** The input for a message. Enter sends it, Shift+Enter begins a line. */
function Composer({ agent, chats }: ComposerProps) {
  const place = `message.${agent.slug}`;
  const text = useSignal(draftOf<{ text: string }>(place)?.text ?? "");
  const id = useId();
  const busy = chats.some((chat) => chat.busy.value);
  const write = (value: string) => {
    text.value = value;
    keepDraft(place, value === "" ? null : { text: value });
  };
  const send = () => {
    const message = text.value.trim();
    if (message === "" || busy) return;
    write("");
    for (const chat of chats) {
      void chat.send(message).then((taken) => {
        if (!taken) keepDraft(place, { text: message });
      });
    }
  };
  const stop = () => {
    for (const chat of chats) if (chat.busy.value) chat.stop().catch(tellFailure);
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <label class="unseen" for={id}>
        Message to {agent.name}
      </label>
      <textarea
        id={id}
        class="input"
        dir="auto"
        rows={Math.min(8, text.value.split("\n").length)}
        placeholder={`Message ${agent.name}`}
        value={text.value}
        onInput={(event) => write(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (!isEnter(event) || event.shiftKey) return;
          event.preventDefault();
          send();
        }}
      />
      {busy ? (
        <Button onClick={stop}>Stop</Button>
      ) : (
        <Button look="primary" type="submit" disabled={text.value.trim() === ""}>
          Send
        </Button>
      )}
    </form>
  );
}

interface DockProps extends ComposerProps {
  /** Buttons for the conversation. */
  children: ComponentChildren;
}

/** The bar at the window's bottom with the input and the buttons. */
export const Dock = ({ children, ...composer }: DockProps) => (
  <div class="dock">
    <Composer {...composer} />
    <div class="chat-after">{children}</div>
  </div>
);
