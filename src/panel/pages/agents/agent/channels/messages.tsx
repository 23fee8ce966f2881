import { useSignal } from "@preact/signals";
import type { ChannelMessage } from "../../../../../client/index.ts";
import { api } from "../../../../data/api.ts";
import { useLoaded } from "../../../../data/load.ts";
import { hrefOf } from "../../../../data/route.ts";
import { Allowed } from "../../../../ui/allowed.tsx";
import { Button } from "../../../../ui/button.tsx";
import { Failure } from "../../../../ui/note.tsx";
import { Pager } from "../../../../ui/pager.tsx";
import { Table } from "../../../../ui/table.tsx";
import { Time } from "../../../../ui/time.tsx";
import { tell, tellFailure } from "../../../../ui/toast.tsx";
import { Waiting } from "../../../../ui/waiting.tsx";
import type { MessengerType } from "./messengers.tsx";

const limit = 10;

interface Props {
  slug: string;
  type: MessengerType;
  /** When the last message came or went: the list is read again when that changes. */
  last: string;
}

/** What came and went over a channel, read once it is looked at. */
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
  const offset = useSignal(0);
  const { value, error, reload } = useLoaded(
    () => api.listChannelMessages({ slug, type, limit, offset: offset.value }),
    [slug, type, offset.value, last],
  );
  const retry = async (id: string) => {
    await api.retryChannelMessage({ slug, type, id });
    tell("It is tried again");
    await reload();
  };
  const page = value.value;
  return (
    <>
      <Failure error={error.value} retry={reload} />
      {!page && error.value === undefined && <Waiting lines={2} />}
      {page?.total === 0 && <p class="soft">Nothing came or went yet.</p>}
      {page && page.messages.length > 0 && (
        <Table
          label="Messages"
          rows={page.messages}
          keyOf={({ id }) => id}
          about={({ error: reason }) => reason && <span class="wrong">{reason}</span>}
          columns={[
            { title: "Message", cell: (message) => <Words message={message} /> },
            { title: "State", cell: ({ status }) => <span class={`badge ${looks[status]}`}>{status}</span> },
            { title: "When", end: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
            {
              title: "Actions",
              end: true,
              cell: ({ id, status }) =>
                status === "failed" && (
                  <Allowed to="agent.channel:write">
                    <Button small onClick={() => void retry(id).catch(tellFailure)}>
                      Try again
                    </Button>
                  </Allowed>
                ),
            },
          ]}
        />
      )}
      {page && (
        <Pager
          {...page}
          onOffset={(next) => {
            offset.value = next;
          }}
        />
      )}
    </>
  );
}

const looks = { pending: "warn", sending: "warn", sent: "good", done: "good", dropped: "", failed: "bad" } as const;

function Words({ message: { direction, peer, text, conversationId } }: { message: ChannelMessage }) {
  const words = `${direction === "in" ? "←" : "→"} ${text ?? peer}`;
  return conversationId === null ? words : <a href={hrefOf(["conversations", conversationId])}>{words}</a>;
}
