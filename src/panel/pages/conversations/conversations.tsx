import { useSignal } from "@preact/signals";
import { agentChoices, useAgents } from "../../data/agents.ts";
import { api } from "../../data/api.ts";
import { askedDays, isBackwards } from "../../data/days.ts";
import { filled, filtersOf } from "../../data/list/filters.ts";
import { useList } from "../../data/list/list.ts";
import type { SectionProps } from "../../data/route.ts";
import { choicesOf } from "../../ui/form/choices.ts";
import { Filters } from "../../ui/list/filters.tsx";
import { List } from "../../ui/list/list.tsx";
import { Failure, Note } from "../../ui/note.tsx";
import { Page } from "../../ui/page.tsx";
import { countText, momentText } from "../../ui/text/numbers.ts";
import { Time } from "../../ui/text/time.tsx";
import { ConversationPage } from "./conversation.tsx";
import { channelNames, speakerOf } from "./speakers.ts";

/** All reachable conversations; the address contains the filters. */
function ConversationsPage() {
  const filters = filtersOf("conversations", ["search", "agent", "channel", "from", "to"]);
  const { values, isFiltered, place } = filters;
  const { search, agent, channel } = values;
  const agents = useAgents();
  const asked = { ...filled({ search, channel, instanceId: agent }), ...askedDays(values) };
  const searchedFrom = useSignal<string | null>(null);
  const found = useList(
    "conversations",
    async (part, signal) => {
      const page = await api.listConversations({ ...part, ...asked }, { signal });
      searchedFrom.value = page.searchedFrom;
      return page;
    },
    Object.values(values),
    { place },
  );
  return (
    <Page title="Conversations" lead="The days are those of the last message, in UTC.">
      <Filters
        of={filters}
        fields={[
          { name: "search", label: "Search", kind: "search", placeholder: "A title, or words of a message" },
          { name: "agent", label: "Agent", kind: "choice", all: "All agents", choices: agentChoices(agents) },
          { name: "channel", label: "Channel", kind: "choice", all: "All channels", choices: choicesOf(channelNames) },
          { name: "from", label: "First day", kind: "day" },
          { name: "to", label: "Last day", kind: "day" },
        ]}
      />
      <Failure error={agents.error.value} retry={agents.reload} />
      {searchedFrom.value !== null && (
        <Note>
          Conversations before {momentText(searchedFrom.value)} were searched only for rare words of their messages. To
          search them in full, choose that day as the last one.
        </Note>
      )}
      {isBackwards(values) ? (
        <Note look="warn">The last day is before the first one.</Note>
      ) : (
        <List
          of={found}
          empty={
            isFiltered
              ? ["Nothing was found", "Other words may do, or another agent, channel or day."]
              : [
                  "No conversations yet",
                  "What people and programs say to agents is listed here, of chats that name a chat_id and of messengers.",
                ]
          }
          label="Conversations"
          keyOf={({ conversationId }) => conversationId}
          pathOf={({ conversationId }) => ["conversations", conversationId]}
          about={({ instanceName, snippet }) => (
            <>
              {instanceName}
              {snippet !== null && (
                <p class="snippet">
                  <Marked text={snippet} search={search} />
                </p>
              )}
            </>
          )}
          columns={[
            {
              title: "Conversation",
              cell: ({ title, conversationId }) => <Marked text={title ?? conversationId} search={search} />,
            },
            { title: "With", cell: speakerOf },
            { title: "Channel", cell: ({ channel }) => channelNames[channel] ?? channel },
            { title: "Messages", end: true, cell: ({ messageCount }) => countText(messageCount) },
            { title: "Tokens", end: true, cell: ({ totalTokens }) => countText(totalTokens) },
            { title: "Last", end: true, cell: ({ updatedAt }) => <Time at={updatedAt} /> },
          ]}
        />
      )}
    </Page>
  );
}

/** `conversations`, and `conversations/{conversationId}`. */
export const ConversationsSection = ({ rest: [id] }: SectionProps) =>
  id === undefined ? <ConversationsPage /> : <ConversationPage key={id} id={id} />;

/** A text in which a search's words are marked where it finds them: at the start of a word, in upper or lower case. */
function Marked({ text, search }: { text: string; search: string }) {
  const words = search.split(/\s+/).map((word) => word.replaceAll(outer, "").replaceAll(special, "\\$&"));
  const wanted = words.filter((word) => word !== "").toSorted((one, other) => other.length - one.length);
  if (wanted.length === 0) return <>{text}</>;
  const parts = text.split(new RegExp(`(?<![\\p{L}\\p{N}])(${wanted.join("|")})`, "giu"));
  return <>{parts.map((part, index) => (index % 2 === 1 ? <mark key={index}>{part}</mark> : part))}</>;
}

/** The punctuation around a word, which a search ignores. */
const outer = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu;
const special = /[\\^$.*+?()[\]{}|/]/g;
