import type { Conversation } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useLoaded } from "../../data/load.ts";
import { offsetIn } from "../../data/offset.ts";
import { goOnTo, goTo, query } from "../../data/route.ts";
import { Empty } from "../../ui/empty.tsx";
import { Choice } from "../../ui/form/field.tsx";
import { SearchField } from "../../ui/form/search-field.tsx";
import { Failure } from "../../ui/note.tsx";
import { countText } from "../../ui/numbers.ts";
import { Page } from "../../ui/page.tsx";
import { Pager } from "../../ui/pager.tsx";
import { Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { Waiting } from "../../ui/waiting.tsx";

const limit = 25;

/** All conversations within reach; what is searched for stands in the address. */
export function ConversationsPage() {
  const search = query.value.get("search") ?? "";
  const agent = query.value.get("agent") ?? "";
  const offset = offsetIn(query.value.get("offset"));
  const look = (changes: Record<string, string>, go = goTo) => {
    const all = { search, agent, offset: "", ...changes };
    go(["conversations"], Object.fromEntries(Object.entries(all).filter(([, value]) => value !== "")));
  };
  const agents = useLoaded(async () => (await api.listAgents()).instances, []);
  const { value, error, reload } = useLoaded(
    (signal) =>
      api.listConversations(
        { limit, offset, ...(search && { search }), ...(agent && { instanceId: agent }) },
        { signal },
      ),
    [search, agent, offset],
  );
  const page = value.value;
  const searches = search !== "" || agent !== "";
  return (
    <Page title="Conversations">
      <search class="columns">
        <SearchField
          label="Search"
          placeholder="A title, or words of a message"
          text={search}
          onText={(text) => look({ search: text }, goOnTo)}
        />
        <Choice
          label="Agent"
          value={agent}
          choices={[
            { value: "", label: "All agents" },
            ...(agents.value.value ?? []).map(({ slug, name }) => ({ value: slug, label: name })),
          ]}
          onValue={(slug) => look({ agent: slug })}
        />
      </search>
      <Failure error={agents.error.value} retry={agents.reload} />
      <Failure error={error.value} retry={reload} />
      {!page && error.value === undefined && <Waiting />}
      {page?.total === 0 && (
        <Empty title={searches ? "Nothing was found" : "No conversations yet"}>
          <p>
            {searches
              ? "Other words may do, or another agent."
              : "What people and programs say to agents is listed here, of chats that name a chat_id and of messengers."}
          </p>
        </Empty>
      )}
      {page && page.conversations.length > 0 && <ConversationTable conversations={page.conversations} />}
      {page && <Pager {...page} onOffset={(next, go) => look({ offset: next === 0 ? "" : String(next) }, go)} />}
    </Page>
  );
}

const ConversationTable = ({ conversations }: { conversations: readonly Conversation[] }) => (
  <Table
    label="Conversations"
    rows={conversations}
    keyOf={({ conversationId }) => conversationId}
    pathOf={({ conversationId }) => ["conversations", conversationId]}
    about={({ instanceName }) => instanceName}
    columns={[
      { title: "Conversation", cell: ({ title, conversationId }) => title ?? conversationId },
      { title: "Channel", cell: ({ channel }) => channel },
      { title: "Messages", end: true, cell: ({ messageCount }) => messageCount },
      { title: "Tokens", end: true, cell: ({ totalTokens }) => countText(totalTokens) },
      { title: "Last", end: true, cell: ({ updatedAt }) => <Time at={updatedAt} /> },
    ]}
  />
);
