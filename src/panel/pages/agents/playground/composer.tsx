import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import type { Instance } from "../../../../client/index.ts";
import { draftOf, keepDraft } from "../../../data/drafts.ts";
import { Button } from "../../../ui/button.tsx";
import type { PlaygroundChat } from "./chat.ts";

/** Where a message is written. Enter sends it, Shift+Enter begins a line. */
export function Composer({ agent, chat }: { agent: Instance; chat: PlaygroundChat }) {
  const place = `message.${agent.slug}`;
  const text = useSignal(draftOf<{ text: string }>(place)?.text ?? "");
  const id = useId();
  const write = (value: string) => {
    text.value = value;
    keepDraft(place, value === "" ? null : { text: value });
  };
  const send = () => {
    const message = text.value.trim();
    if (message === "" || chat.busy.value) return;
    write("");
    void chat.send(message);
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
        rows={Math.min(8, text.value.split("\n").length)}
        placeholder={`Message ${agent.name}`}
        value={text.value}
        onInput={(event) => write(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          send();
        }}
      />
      {chat.busy.value ? (
        <Button onClick={() => void chat.stop()}>Stop</Button>
      ) : (
        <Button look="primary" type="submit" disabled={text.value.trim() === ""}>
          Send
        </Button>
      )}
    </form>
  );
}
