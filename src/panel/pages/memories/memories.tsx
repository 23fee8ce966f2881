import type { Memory } from "../../../client/index.ts";
import { agentChoices, useAgents } from "../../data/agents.ts";
import { api } from "../../data/api.ts";
import { useAction } from "../../data/form/action.ts";
import { filled, filtersOf } from "../../data/list/filters.ts";
import { useList } from "../../data/list/list.ts";
import { hrefOf } from "../../data/route.ts";
import { Allowed } from "../../ui/allowed.tsx";
import { Button } from "../../ui/button.tsx";
import { ConfirmButton, DialogButton } from "../../ui/dialog/buttons.tsx";
import { Filters } from "../../ui/list/filters.tsx";
import { ListPage } from "../../ui/list/list.tsx";
import { Failure } from "../../ui/note.tsx";
import { type EndUserChannel, endUserChannels, endUserText } from "../../ui/text/end-user.ts";
import { Time } from "../../ui/text/time.tsx";
import { tell, tellFailure } from "../../ui/toast.tsx";
import { NewMemoryDialog } from "./new-memory.tsx";

/** The agents' memories; the address contains the search. */
export function MemoriesPage() {
  const filters = filtersOf("memories", ["search", "agent", "category", "subject", "channel"]);
  const { search, agent, category, subject, channel } = filters.values;
  const subjectChannel = (channel || "web") as EndUserChannel;
  const agents = useAgents();
  const memories = useList(
    "memories",
    (part, signal) => {
      const wanted = filled({ search, category, instanceId: agent });
      return api.listMemories({ ...part, ...wanted, ...(subject && { subject, subjectChannel }) }, { signal });
    },
    [search, agent, category, subject, subjectChannel],
    { place: filters.place },
  );
  const { reload } = memories;
  const searches = [search, agent, category, subject].some((one) => one !== "");
  const known = agents.value.value ?? [];
  const remove = async (memory: Memory) => {
    await api.deleteMemory({ id: memory.id });
    const { instanceId, content, importance, subject: whose, subjectChannel: over } = memory;
    const person = over === null ? {} : { subject: whose, subjectChannel: over };
    const again = { instanceId, content, importance, ...person, category: memory.category };
    tell("Forgotten", () => void api.createMemory({ body: again }).then(reload, tellFailure));
    await reload();
  };
  return (
    <ListPage
      title="Memories"
      lead="Facts that agents keep about their end users, and tell the model when they matter."
      extra={
        <Allowed to="memory:write">
          {agent !== "" && memories.value.value?.total ? <ForgetAll agent={agent} onDone={reload} /> : null}
          <DialogButton
            look="primary"
            disabled={known.length === 0}
            dialog={(onClose) => <NewMemoryDialog agents={known} agent={agent} onSaved={reload} onClose={onClose} />}
          >
            New memory
          </DialogButton>
        </Allowed>
      }
      head={
        <>
          <Filters
            of={{ ...filters, values: { ...filters.values, channel: subjectChannel } }}
            look="narrow"
            fields={[
              { name: "search", label: "Search", kind: "search", placeholder: "Words of a memory" },
              { name: "subject", label: "End user", kind: "search", placeholder: "Exactly" },
              { name: "channel", label: "Channel of the end user", kind: "choice", choices: endUserChannels },
              { name: "category", label: "Category", kind: "search", placeholder: "Exactly" },
              { name: "agent", label: "Agent", kind: "choice", all: "All agents", choices: agentChoices(agents) },
            ]}
          />
          <Failure error={agents.error.value} retry={agents.reload} />
        </>
      }
      of={memories}
      empty={
        searches
          ? ["Nothing was found", "Other words may do, or fewer filters."]
          : [
              "Nothing is remembered yet",
              "An agent with a fast model learns by itself; another one saves what a tool of it is told to.",
            ]
      }
      label="Memories"
      keyOf={({ id }) => id}
      about={({ instanceId, ...memory }) =>
        [instanceId, endUserText(memory.subject, memory.subjectChannel) || "nobody in particular"].join(" · ")
      }
      columns={[
        { title: "Memory", cell: ({ content }) => content },
        { title: "Category", cell: (memory) => memory.category },
        { title: "Weight", end: true, cell: ({ importance }) => importance },
        { title: "Changed", end: true, cell: (memory) => <Origin memory={memory} /> },
      ]}
      actionsTo="memory:write"
      actions={(memory) => <Forget onForget={() => remove(memory)} />}
    />
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
