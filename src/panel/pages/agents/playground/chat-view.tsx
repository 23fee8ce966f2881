import type { ComponentChildren } from "preact";
import type { Entry, Reply } from "../../../transcript/reply.ts";
import { ReplyView } from "../../../transcript/reply-view.tsx";
import { Note } from "../../../ui/note.tsx";
import { Waiting } from "../../../ui/waiting.tsx";
import type { PlaygroundChat } from "./chat.ts";

interface Props {
  chat: PlaygroundChat;
  /** Shown while there are no entries. */
  empty: ComponentChildren;
  /** Shown below a finished reply. */
  after?: (reply: Reply) => ComponentChildren;
}

/** The questions and replies of a chat. */
export function ChatView({ chat, empty, after }: Props) {
  const entries = chat.entries.value;
  const loading = chat.loading.value;
  return (
    <>
      {loading && <Waiting lines={3} />}
      {chat.failure.value !== null && <Note look="bad">{chat.failure.value}</Note>}
      {!loading && entries.length === 0 && empty}
      <div class="chat-entries">
        {entries.map((entry, index) => (
          <EntryView key={index} chat={chat} entry={entry} last={index === entries.length - 1} after={after} />
        ))}
      </div>
      {chat.lost.value && (
        <Note look="warn">The connection broke. The agent goes on, and this page tries to reach the server again.</Note>
      )}
    </>
  );
}

interface EntryProps extends Pick<Props, "chat"> {
  after: Props["after"];
  entry: Entry;
  last: boolean;
}

function EntryView({ chat, entry, last, after }: EntryProps) {
  if (entry.role === "user") {
    return (
      <div class="question">
        <span class="unseen">You:</span>
        {entry.text}
      </div>
    );
  }
  return (
    <div class="answer">
      <ReplyView
        reply={entry}
        conversationId={chat.conversationId}
        decide={(toolCallId, approved) => chat.decide(entry, toolCallId, approved)}
        again={last ? () => void chat.again() : undefined}
      />
      {entry.state !== "running" && after?.(entry)}
    </div>
  );
}
