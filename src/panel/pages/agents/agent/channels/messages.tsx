import { useSignal } from "@preact/signals";
import type { ChannelMessage } from "../../../../../client/index.ts";
import { api } from "../../../../data/api.ts";
import { useList } from "../../../../data/list/list.ts";
import { hrefOf } from "../../../../data/route.ts";
import { ActButton } from "../../../../ui/act-button.tsx";
import { List } from "../../../../ui/list/list.tsx";
import { Time } from "../../../../ui/text/time.tsx";
import type { MessengerType } from "./messengers.tsx";

interface Props {
  slug: string;
  type: MessengerType;
  /** The time of the last message; a change reads the list again. */
  last: string;
}

/** The messages of a channel, read once the list is opened. */
export function Messages(props: Props) {
  const open = useSignal(false);
  return (
    <details
      class="step"
      onToggle={(event) => {
        open.value = event.currentTarget.open;
      }}
    >
      <summary>Messages</summary>
      {open.value && <MessageList {...props} />}
    </details>
  );
}

function MessageList({ slug, type, last }: Props) {
  const messages = useList("messages", (part) => api.listChannelMessages({ slug, type, ...part }), [slug, type], {
    limit: 10,
    last,
  });
  return (
    <List
      of={messages}
      lines={2}
      empty="Nothing came or went yet."
      label="Messages"
      keyOf={({ id }) => id}
      about={({ error: reason }) => reason && <span class="wrong">{reason}</span>}
      columns={[
        { title: "Message", cell: (message) => <Words message={message} /> },
        { title: "State", cell: ({ status }) => <span class={`badge ${looks[status]}`}>{status}</span> },
        { title: "When", end: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
      ]}
      actionsTo="agent.channel:write"
      actions={({ id, status }) =>
        status === "failed" && (
          <ActButton
            small
            work={() => api.retryChannelMessage({ slug, type, id })}
            said="It is tried again"
            onDone={messages.reload}
          >
            Try again
          </ActButton>
        )
      }
    />
  );
}

const looks = { pending: "warn", sending: "warn", sent: "good", done: "good", dropped: "", failed: "bad" } as const;

function Words({ message: { direction, peer, text, conversationId } }: { message: ChannelMessage }) {
  const words = `${direction === "in" ? "←" : "→"} ${text ?? peer}`;
  return conversationId === null ? words : <a href={hrefOf(["conversations", conversationId])}>{words}</a>;
}
