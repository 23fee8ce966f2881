import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import type { Conversation } from "../../../client/index.ts";
import { api, isRefused } from "../../data/api.ts";
import { useForm } from "../../data/form/form.ts";
import { reloadAll, useLoaded } from "../../data/list/load.ts";
import { useLive } from "../../data/live.ts";
import { goTo, hrefOf } from "../../data/route.ts";
import { type Entry, entriesOf } from "../../transcript/reply.ts";
import { ReplyView } from "../../transcript/reply-view.tsx";
import { Allowed } from "../../ui/allowed.tsx";
import { ConfirmButton } from "../../ui/dialog/buttons.tsx";
import { SaveForm } from "../../ui/form/form.tsx";
import { Pager } from "../../ui/list/pager.tsx";
import { LiveBadge } from "../../ui/live-badge.tsx";
import { Failure } from "../../ui/note.tsx";
import { Page } from "../../ui/page.tsx";
import { countText, momentText } from "../../ui/text/numbers.ts";
import { Time } from "../../ui/text/time.tsx";
import { tell } from "../../ui/toast.tsx";
import { Waiting } from "../../ui/waiting.tsx";
import { NotFoundPage } from "../missing.tsx";
import { channelNames, speakerOf } from "./speakers.ts";

const limit = 50;

/** A conversation with all its steps. People with the permission can rename and delete it. */
export function ConversationPage({ id }: { id: string }) {
  const conversationId = id;
  const offset = useSignal(0);
  const told = useLoaded(async () => (await api.getConversation({ conversationId })).conversation, [id]);
  const messages = useLoaded(
    () => api.listMessages({ conversationId, limit, offset: offset.value }),
    [id, offset.value],
  );
  const conversation = told.value.value;
  const page = messages.value.value;
  const decide = async (toolCallId: string, approved: boolean) => {
    await api.decideApproval({ id, toolCallId, body: { approved } });
    tell(approved ? "Approved: the call is made now" : "Denied");
    await messages.reload();
  };
  if (isRefused(told.error.value, 404)) return <NotFoundPage />;
  return (
    <Page
      title={conversation?.title ?? "Conversation"}
      lead={conversation && <About conversation={conversation} />}
      actions={
        conversation && (
          <div class="actions">
            <Follow conversation={conversation} onStored={messages.reload} />
            <Allowed to="conversation:delete">
              <ConfirmButton
                label="Delete"
                title="Delete this conversation?"
                action="Delete the conversation"
                onConfirm={() => api.deleteConversation({ conversationId })}
                said={`${conversation.title ?? "The conversation"} is deleted`}
                onDone={() => goTo(["conversations"])}
              >
                Its messages, files and state are deleted. There is no way back.
              </ConfirmButton>
            </Allowed>
          </div>
        )
      }
    >
      <Failure error={told.error.value ?? messages.error.value} retry={() => reloadAll(told, messages)} />
      {conversation && (
        <Allowed to="conversation:delete">
          <Rename key={id} conversation={conversation} onChange={told.reload} />
        </Allowed>
      )}
      {!page && messages.error.value === undefined && <Waiting />}
      {page && (
        <div class="chat">
          <div class="chat-entries">
            {entriesOf(page.messages, id, page.offset + page.messages.length >= page.total).map((entry, index) => (
              <EntryView key={index} entry={entry} conversation={conversation} conversationId={id} decide={decide} />
            ))}
          </div>
        </div>
      )}
      {page && (
        <Pager
          {...page}
          newer="Earlier"
          older="Later"
          onOffset={(next) => {
            offset.value = next;
          }}
        />
      )}
    </Page>
  );
}

interface FollowProps {
  conversation: Conversation;
  /** Called when a part of the conversation was stored, or may have been while the connection was lost. */
  onStored: () => void;
}

/** Updates the page as the conversation grows, and shows whether live updates work. */
function Follow({ conversation: { conversationId }, onStored }: FollowProps) {
  const live = useLive(({ event, data }) => {
    if (event === "persisted" && data.conversationId === conversationId) onStored();
  });
  const isLive = live.value === "live";
  useEffect(() => {
    if (isLive) onStored();
  }, [isLive, onStored]);
  return <LiveBadge state={live.value} />;
}

const About = ({
  conversation: { instanceId, instanceName, channel, source, totalTokens, createdAt },
}: {
  conversation: Conversation;
}) => (
  <>
    <a href={hrefOf(["agents", instanceId])}>{instanceName}</a> · {channelNames[channel] ?? channel}
    {source === "webhook" && " · an event"} · {countText(totalTokens)} tokens · begun <Time at={createdAt} />
  </>
);

interface EntryProps {
  entry: Entry;
  /** Undefined while it is being read. */
  conversation: Conversation | undefined;
  conversationId: string;
  decide: (toolCallId: string, approved: boolean) => Promise<void>;
}

function EntryView({ entry, conversation, conversationId, decide }: EntryProps) {
  if (entry.role === "user") {
    return (
      <div class="asked">
        <Speaker at={entry.at}>{conversation && speakerOf(conversation)}</Speaker>
        <div class="question">{entry.text}</div>
      </div>
    );
  }
  return (
    <div class="answer">
      <Speaker at={entry.at}>
        {conversation?.instanceName}
        {entry.sentFrom !== null && (
          <>
            , of itself in <a href={hrefOf(["conversations", entry.sentFrom])}>another conversation</a>
          </>
        )}
      </Speaker>
      <ReplyView reply={entry} conversationId={conversationId} decide={decide} />
    </div>
  );
}

/** The speaker of a message, and its time. */
const Speaker = ({ at, children }: { at: string | null; children: ComponentChildren }) => (
  <p class="speaker">
    <span>{children}</span>
    {at !== null && <time dateTime={at}>{momentText(at)}</time>}
  </p>
);

function Rename({ conversation, onChange }: { conversation: Conversation; onChange: () => Promise<void> }) {
  const { conversationId } = conversation;
  const stored = { title: conversation.title ?? "" };
  const form = useForm(`conversation.${conversationId}`, stored, async ({ title = "" }) => {
    await api.renameConversation({ conversationId, body: { title } });
    await onChange();
  });
  return (
    <details class="step">
      <summary>Rename</summary>
      <SaveForm form={form} fields={[{ name: "title", label: "Title", maxLength: 200 }]} />
    </details>
  );
}
