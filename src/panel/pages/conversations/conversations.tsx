import type { FoundConversation } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { dayAfter, daysIn, isDate } from "../../data/days.ts";
import { useLoaded } from "../../data/load.ts";
import { offsetIn } from "../../data/offset.ts";
import { goOnTo, goTo, query } from "../../data/route.ts";
import { Empty } from "../../ui/empty.tsx";
import { DayFields } from "../../ui/form/day-fields.tsx";
import { Choice, choicesWith } from "../../ui/form/field.tsx";
import { SearchField } from "../../ui/form/search-field.tsx";
import { Marked } from "../../ui/marked.tsx";
import { Failure, Note } from "../../ui/note.tsx";
import { countText } from "../../ui/numbers.ts";
import { Page } from "../../ui/page.tsx";
import { Pager } from "../../ui/pager.tsx";
import { Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { Waiting } from "../../ui/waiting.tsx";
import { channelNames, speakerOf } from "./speakers.ts";

const limit = 25;

const filterNames = ["search", "agent", "channel", "from", "to"] as const;
type Filters = Record<(typeof filterNames)[number], string>;

/** All conversations within reach; what is looked for stands in the address. */
export function ConversationsPage() {
  const filters = Object.fromEntries(filterNames.map((name) => [name, query.value.get(name) ?? ""])) as Filters;
  const offset = offsetIn(query.value.get("offset"));
  const look = (changes: Record<string, string>, go = goTo) => {
    const all = { ...filters, offset: "", ...changes };
    go(["conversations"], Object.fromEntries(Object.entries(all).filter(([, value]) => value !== "")));
  };
  const { from, to } = filters;
  const isBackwards = isDate(from) && isDate(to) && daysIn(from, to) < 1;
  return (
    <Page title="Conversations" lead="The days are those of the last message, in UTC.">
      <ConversationFilters filters={filters} onChange={look} onTyped={(changes) => look(changes, goOnTo)} />
      {isBackwards ? (
        <Note look="warn">The last day is before the first one.</Note>
      ) : (
        <Found
          filters={filters}
          offset={offset}
          onOffset={(next, go) => look({ offset: next === 0 ? "" : String(next) }, go)}
        />
      )}
    </Page>
  );
}

interface FilterProps {
  filters: Filters;
  onChange: (changes: Partial<Filters>) => void;
  /** Of what was typed, perhaps in part. */
  onTyped: (changes: Partial<Filters>) => void;
}

function ConversationFilters({ filters, onChange, onTyped }: FilterProps) {
  const agents = useLoaded(async () => (await api.listAgents()).instances, []);
  const known = (agents.value.value ?? []).map(({ slug, name }) => ({ value: slug, label: name }));
  const channels = Object.entries(channelNames).map(([value, label]) => ({ value, label }));
  return (
    <>
      <search class="columns">
        <SearchField
          label="Search"
          placeholder="A title, or words of a message"
          text={filters.search}
          onText={(search) => onTyped({ search })}
        />
        <Choice
          label="Agent"
          value={filters.agent}
          choices={choicesWith("All agents", known, filters.agent)}
          onValue={(agent) => onChange({ agent })}
        />
        <Choice
          label="Channel"
          value={filters.channel}
          choices={choicesWith("All channels", channels, filters.channel)}
          onValue={(channel) => onChange({ channel })}
        />
        <DayFields days={filters} onDay={onTyped} />
      </search>
      <Failure error={agents.error.value} retry={agents.reload} />
    </>
  );
}

interface FoundProps {
  filters: Filters;
  offset: number;
  onOffset: (offset: number, go: typeof goTo) => void;
}

function Found({ filters, offset, onOffset }: FoundProps) {
  const { search, agent, channel, from, to } = filters;
  const { value, error, reload } = useLoaded(
    (signal) =>
      api.listConversations(
        {
          ...{ limit, offset },
          ...(search && { search }),
          ...(agent && { instanceId: agent }),
          ...(channel && { channel }),
          ...(isDate(from) && { from }),
          ...(isDate(to) && { to: dayAfter(to) }),
        },
        { signal },
      ),
    [...Object.values(filters), offset],
  );
  const page = value.value;
  const isFiltered = Object.values(filters).some((filter) => filter !== "");
  return (
    <>
      <Failure error={error.value} retry={reload} />
      {!page && error.value === undefined && <Waiting />}
      {page?.total === 0 && (
        <Empty title={isFiltered ? "Nothing was found" : "No conversations yet"}>
          <p>
            {isFiltered
              ? "Other words may do, or another agent, channel or day."
              : "What people and programs say to agents is listed here, of chats that name a chat_id and of messengers."}
          </p>
        </Empty>
      )}
      {page && page.conversations.length > 0 && (
        <ConversationTable conversations={page.conversations} search={search} />
      )}
      {page && <Pager {...page} onOffset={onOffset} />}
    </>
  );
}

interface TableProps {
  conversations: readonly FoundConversation[];
  search: string;
}

const ConversationTable = ({ conversations, search }: TableProps) => (
  <Table
    label="Conversations"
    rows={conversations}
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
);
