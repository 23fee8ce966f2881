import { useSignal } from "@preact/signals";
import type { BacklogEntry } from "../../../../../client/index.ts";
import { api } from "../../../../data/api.ts";
import { useList } from "../../../../data/list/list.ts";
import { ActButton } from "../../../../ui/act-button.tsx";
import { choicesOf } from "../../../../ui/form/choices.ts";
import { SignalChoice } from "../../../../ui/form/field.tsx";
import { List } from "../../../../ui/list/list.tsx";
import { Time } from "../../../../ui/text/time.tsx";

type Status = BacklogEntry["status"];

const words: Readonly<Record<Status, string>> = {
  pending: "waits",
  processing: "is worked on",
  completed: "done",
  failed: "given up",
  discarded: "discarded",
};
const looks: Readonly<Record<Status, string>> = {
  pending: "warn",
  processing: "",
  completed: "good",
  failed: "bad",
  discarded: "",
};

/** The Room's waiting and finished backlog entries. */
export function Backlog({ slug }: { slug: string }) {
  const status = useSignal<Status | "">("");
  const entries = useList(
    "events",
    (part) => api.listBacklog({ slug, ...part, ...(status.value && { status: status.value }) }),
    [slug, status.value],
    { everyMs: 5_000 },
  );
  return (
    <>
      <div class="columns">
        <SignalChoice label="State" of={status} choices={[{ value: "", label: "All" }, ...choicesOf(words)]} />
      </div>
      <List
        of={entries}
        empty={[
          "Nothing is in the backlog",
          "A definition of a source says which events go here. The agent works them off in its Room.",
        ]}
        label="Backlog"
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
        ]}
        actionsTo="agent.room:write"
        actions={(entry) => {
          if (entry.status === "processing" || entry.status === "completed") return null;
          const next = entry.status === "pending" ? "discarded" : "pending";
          return (
            <ActButton
              small
              look="plain"
              work={() => api.changeBacklogEntry({ slug, id: entry.id, body: { status: next } })}
              said={next === "discarded" ? "Discarded" : "It waits again"}
              onDone={entries.reload}
            >
              {next === "discarded" ? "Discard" : "Handle it again"}
            </ActButton>
          );
        }}
      />
    </>
  );
}
