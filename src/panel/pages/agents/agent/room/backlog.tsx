import { useSignal } from "@preact/signals";
import type { BacklogEntry } from "../../../../../client/index.ts";
import { api } from "../../../../data/api.ts";
import { useLoaded } from "../../../../data/load.ts";
import { useRefresh } from "../../../../data/refresh.ts";
import { Allowed } from "../../../../ui/allowed.tsx";
import { Button } from "../../../../ui/button.tsx";
import { Empty } from "../../../../ui/empty.tsx";
import { Choice } from "../../../../ui/form/field.tsx";
import { Failure } from "../../../../ui/note.tsx";
import { Pager } from "../../../../ui/pager.tsx";
import { Table } from "../../../../ui/table.tsx";
import { Time } from "../../../../ui/time.tsx";
import { tell, tellFailure } from "../../../../ui/toast.tsx";
import { Waiting } from "../../../../ui/waiting.tsx";

type Status = BacklogEntry["status"];

const limit = 25;
const everyMs = 5_000;

const words: Readonly<Record<Status, string>> = {
  ...{ pending: "waits", processing: "is worked on", completed: "done", failed: "given up", discarded: "discarded" },
};
const looks: Readonly<Record<Status, string>> = {
  ...{ pending: "warn", processing: "", completed: "good", failed: "bad", discarded: "" },
};

/** What waits for the agent's turns in the Room, and what was done. */
export function Backlog({ slug }: { slug: string }) {
  const status = useSignal<Status | "">("");
  const offset = useSignal(0);
  const { value, error, reload } = useLoaded(
    () => api.listBacklog({ slug, limit, offset: offset.value, ...(status.value && { status: status.value }) }),
    [slug, status.value, offset.value],
  );
  useRefresh(reload, everyMs);
  const change = async ({ id }: BacklogEntry, next: "discarded" | "pending") => {
    await api.changeBacklogEntry({ slug, id, body: { status: next } });
    tell(next === "discarded" ? "Discarded" : "It waits again");
    await reload();
  };
  const page = value.value;
  return (
    <>
      <div class="columns">
        <Choice
          label="State"
          value={status.value}
          choices={[
            { value: "", label: "All" },
            ...Object.entries(words).map(([name, label]) => ({ value: name, label })),
          ]}
          onValue={(name) => {
            status.value = name as Status | "";
            offset.value = 0;
          }}
        />
      </div>
      <Failure error={error.value} retry={reload} />
      {!page && error.value === undefined && <Waiting />}
      {page?.total === 0 && (
        <Empty title="Nothing is in the backlog">
          <p>A definition of a source says which events go here. The agent works them off in its Room.</p>
        </Empty>
      )}
      {page && page.events.length > 0 && (
        <Table
          label="Backlog"
          rows={page.events}
          keyOf={({ id }) => id}
          about={({ reactNotes, error: problem }) => problem ?? reactNotes}
          columns={[
            { title: "Event", cell: ({ rawPayload }) => <code>{JSON.stringify(rawPayload)?.slice(0, 80)}</code> },
            {
              title: "State",
              cell: (entry) => <span class={`badge ${looks[entry.status]}`}>{words[entry.status]}</span>,
            },
            { title: "Turns", end: true, cell: ({ attempts }) => attempts },
            { title: "Since", end: true, cell: ({ matchedAt }) => <Time at={matchedAt} /> },
            {
              title: "Actions",
              end: true,
              cell: (entry) => <EntryActions entry={entry} onChange={(next) => change(entry, next)} />,
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

interface ActionsProps {
  entry: BacklogEntry;
  onChange: (next: "discarded" | "pending") => Promise<void>;
}

function EntryActions({ entry: { status }, onChange }: ActionsProps) {
  if (status === "processing" || status === "completed") return null;
  const next = status === "pending" ? "discarded" : "pending";
  return (
    <Allowed to="agent.room:write">
      <Button small look="plain" onClick={() => void onChange(next).catch(tellFailure)}>
        {next === "discarded" ? "Discard" : "Handle it again"}
      </Button>
    </Allowed>
  );
}
