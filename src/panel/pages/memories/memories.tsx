import { useSignal } from "@preact/signals";
import type { Memory } from "../../../client/index.ts";
import { useAction } from "../../data/action.ts";
import { api } from "../../data/api.ts";
import { reloadAll, useLoaded } from "../../data/load.ts";
import { offsetIn } from "../../data/offset.ts";
import { goOnTo, goTo, hrefOf, query } from "../../data/route.ts";
import { Allowed } from "../../ui/allowed.tsx";
import { Button } from "../../ui/button.tsx";
import { ConfirmButton } from "../../ui/dialog/confirm-button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { type EndUserChannel, endUserChannels, endUserText } from "../../ui/end-user.ts";
import { Choice } from "../../ui/form/field.tsx";
import { SearchField } from "../../ui/form/search-field.tsx";
import { Failure } from "../../ui/note.tsx";
import { Page } from "../../ui/page.tsx";
import { Pager } from "../../ui/pager.tsx";
import { Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { tell, tellFailure } from "../../ui/toast.tsx";
import { Waiting } from "../../ui/waiting.tsx";
import { NewMemoryDialog } from "./new-memory.tsx";

const limit = 25;

/** What agents remember; what is searched for stands in the address. */
export function MemoriesPage() {
  const asked = Object.fromEntries(query.value);
  const { search = "", agent = "", category = "", subject = "" } = asked;
  const channel = (asked.channel ?? "web") as EndUserChannel;
  const offset = offsetIn(asked.offset);
  const look = (changes: Record<string, string>, go = goTo) => {
    const all = { search, agent, category, subject, channel: asked.channel ?? "", offset: "", ...changes };
    go(["memories"], Object.fromEntries(Object.entries(all).filter(([, value]) => value !== "")));
  };
  const agents = useLoaded(async () => (await api.listAgents()).instances, []);
  const memories = useLoaded(
    (signal) => {
      const wanted = { ...(search && { search }), ...(category && { category }) };
      const whose = subject && { subject, subjectChannel: channel };
      return api.listMemories({ limit, offset, ...wanted, ...whose, ...(agent && { instanceId: agent }) }, { signal });
    },
    [search, agent, category, subject, channel, offset],
  );
  const { value, error, reload } = memories;
  const adds = useSignal(false);
  const page = value.value;
  const searches = [search, agent, category, subject].some((one) => one !== "");
  const known = agents.value.value ?? [];
  const remove = async (memory: Memory) => {
    await api.deleteMemory({ id: memory.id });
    const { instanceId, content, importance, subject: whose, subjectChannel } = memory;
    const person = subjectChannel === null ? {} : { subject: whose, subjectChannel };
    const again = { instanceId, content, importance, ...person, category: memory.category };
    tell("Forgotten", () => void api.createMemory({ body: again }).then(reload, tellFailure));
    await reload();
  };
  return (
    <Page
      title="Memories"
      lead="Facts that agents keep about their end users, and tell the model when they matter."
      actions={
        <Allowed to="memory:write">
          <div class="actions">
            {agent !== "" && page && page.total > 0 && <ForgetAll agent={agent} onDone={reload} />}
            <Button
              look="primary"
              disabled={known.length === 0}
              onClick={() => {
                adds.value = true;
              }}
            >
              New memory
            </Button>
          </div>
        </Allowed>
      }
    >
      <search class="columns narrow">
        <SearchField
          label="Search"
          placeholder="Words of a memory"
          text={search}
          onText={(text) => look({ search: text }, goOnTo)}
        />
        <SearchField
          label="End user"
          placeholder="Exactly"
          text={subject}
          onText={(text) => look({ subject: text }, goOnTo)}
        />
        <Choice
          label="Channel of the end user"
          value={channel}
          choices={endUserChannels}
          onValue={(chosen) => look({ channel: chosen })}
        />
        <SearchField
          label="Category"
          placeholder="Exactly"
          text={category}
          onText={(text) => look({ category: text }, goOnTo)}
        />
        <Choice
          label="Agent"
          value={agent}
          choices={[
            { value: "", label: "All agents" },
            ...known.map(({ slug, name }) => ({ value: slug, label: name })),
          ]}
          onValue={(slug) => look({ agent: slug })}
        />
      </search>
      <Failure error={error.value ?? agents.error.value} retry={() => reloadAll(memories, agents)} />
      {!page && error.value === undefined && <Waiting />}
      {page?.total === 0 && (
        <Empty title={searches ? "Nothing was found" : "Nothing is remembered yet"}>
          <p>
            {searches
              ? "Other words may do, or fewer filters."
              : "An agent with a fast model learns by itself; another one saves what a tool of it is told to."}
          </p>
        </Empty>
      )}
      {page && page.memories.length > 0 && (
        <Table
          label="Memories"
          rows={page.memories}
          keyOf={({ id }) => id}
          about={({ instanceId, subject: whose, subjectChannel }) =>
            [instanceId, endUserText(whose, subjectChannel) || "nobody in particular"].join(" · ")
          }
          columns={[
            { title: "Memory", cell: ({ content }) => content },
            { title: "Category", cell: (memory) => memory.category },
            { title: "Weight", end: true, cell: ({ importance }) => importance },
            { title: "Changed", end: true, cell: (memory) => <Origin memory={memory} /> },
            {
              title: "Actions",
              end: true,
              cell: (memory) => (
                <Allowed to="memory:write">
                  <Forget onForget={() => remove(memory)} />
                </Allowed>
              ),
            },
          ]}
        />
      )}
      {page && <Pager {...page} onOffset={(next, go) => look({ offset: next === 0 ? "" : String(next) }, go)} />}
      {adds.value && (
        <NewMemoryDialog
          agents={known}
          agent={agent}
          onSaved={reload}
          onClose={() => {
            adds.value = false;
          }}
        />
      )}
    </Page>
  );
}

function Forget({ onForget }: { onForget: () => Promise<void> }) {
  const act = useAction(() => onForget().catch(tellFailure));
  return (
    <Button small look="danger" busy={act.busy} onClick={() => void act.run()}>
      Forget
    </Button>
  );
}

const Origin = ({ memory: { updatedAt, sourceConversationId } }: { memory: Memory }) =>
  sourceConversationId === null ? (
    <Time at={updatedAt} />
  ) : (
    <a href={hrefOf(["conversations", sourceConversationId])}>
      <Time at={updatedAt} />
    </a>
  );

function ForgetAll({ agent, onDone }: { agent: string; onDone: () => void }) {
  const forget = async () => {
    const { count } = await api.deleteMemories({ instanceId: agent });
    tell(count === 1 ? "One memory is deleted" : `${count} memories are deleted`);
    onDone();
  };
  return (
    <ConfirmButton
      label="Forget all"
      title={`Delete all memories of ${agent}?`}
      action="Delete all"
      word={agent}
      onConfirm={forget}
    >
      The agent remembers nobody any more, whatever the filters show. There is no way back.
    </ConfirmButton>
  );
}
