import { useSignal } from "@preact/signals";
import type { EventSource, RoomEvent } from "../../../../../client/index.ts";
import { useAction } from "../../../../data/action.ts";
import { api } from "../../../../data/api.ts";
import { useLoaded } from "../../../../data/load.ts";
import { useRefresh } from "../../../../data/refresh.ts";
import { hrefOf } from "../../../../data/route.ts";
import { Value } from "../../../../transcript/tool-view.tsx";
import { Allowed } from "../../../../ui/allowed.tsx";
import { Button } from "../../../../ui/button.tsx";
import { Dialog } from "../../../../ui/dialog/dialog.tsx";
import { Empty } from "../../../../ui/empty.tsx";
import { Choice } from "../../../../ui/form/field.tsx";
import { Failure } from "../../../../ui/note.tsx";
import { Pager } from "../../../../ui/pager.tsx";
import { Table } from "../../../../ui/table.tsx";
import { Time } from "../../../../ui/time.tsx";
import { tell } from "../../../../ui/toast.tsx";
import { Waiting } from "../../../../ui/waiting.tsx";
import { type Outcome, outcomeLooks, outcomeWords } from "./outcomes.ts";
import { Verdicts } from "./verdicts.tsx";

const limit = 25;
const everyMs = 5_000;

/** The ledger: every event that came, and what became of it. */
export function Events({ slug }: { slug: string }) {
  const outcome = useSignal<Outcome | "">("");
  const offset = useSignal(0);
  const opened = useSignal<RoomEvent | null>(null);
  const { value, error, reload } = useLoaded(
    () => api.listRoomEvents({ slug, limit, offset: offset.value, ...(outcome.value && { outcome: outcome.value }) }),
    [slug, outcome.value, offset.value],
  );
  useRefresh(reload, everyMs);
  const sources = useLoaded(() => api.listEventSources({ slug }), [slug]).value.value ?? [];
  const page = value.value;
  const replay = async ({ id }: RoomEvent) => {
    await api.replayRoomEvent({ slug, id });
    opened.value = null;
    tell("It is handled again");
    await reload();
  };
  return (
    <>
      <div class="columns">
        <Choice
          label="Outcome"
          value={outcome.value}
          choices={[
            { value: "", label: "All" },
            ...Object.entries(outcomeWords).map(([name, label]) => ({ value: name, label })),
          ]}
          onValue={(name) => {
            outcome.value = name as Outcome | "";
            offset.value = 0;
          }}
        />
      </div>
      <Failure error={error.value} retry={reload} />
      {!page && error.value === undefined && <Waiting />}
      {page?.total === 0 && (
        <Empty title={outcome.value === "" ? "No event has come yet" : "Nothing was found"}>
          <p>Each source has an address. What is posted there is listed here, whatever becomes of it.</p>
        </Empty>
      )}
      {page && page.events.length > 0 && (
        <Table
          label="Events"
          rows={page.events}
          keyOf={({ id }) => id}
          about={({ reason }) => reason}
          columns={[
            { title: "Event", cell: ({ payload }) => <code>{JSON.stringify(payload)?.slice(0, 80)}</code> },
            { title: "Source", cell: (event) => sourceName(sources, event) },
            {
              title: "What became of it",
              cell: (event) => <Fate event={event} sources={sources} />,
            },
            { title: "Came", end: true, cell: ({ receivedAt }) => <Time at={receivedAt} /> },
            {
              title: "Actions",
              end: true,
              cell: (event) => (
                <Button
                  small
                  look="plain"
                  onClick={() => {
                    opened.value = event;
                  }}
                >
                  Open
                </Button>
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
      {opened.value && (
        <EventDialog
          event={opened.value}
          sources={sources}
          onReplay={replay}
          onClose={() => {
            opened.value = null;
          }}
        />
      )}
    </>
  );
}

/** By the name it has now. */
const sourceName = (sources: readonly EventSource[], { eventSourceId }: RoomEvent) =>
  sources.find(({ id }) => id === eventSourceId)?.name ?? "a deleted source";

/** The outcome of an event, and the definition that decided it. */
function Fate({ event, sources }: { event: RoomEvent; sources: readonly EventSource[] }) {
  const { outcome, verdicts } = event;
  const matched = verdicts.find((verdict) => verdict.matched)?.definitionId;
  const definition = sources.flatMap(({ definitions }) => definitions).find(({ id }) => id === matched);
  return (
    <span>
      <span class={`badge ${outcomeLooks[outcome]}`}>{outcomeWords[outcome]}</span>
      {definition && ` by ${definition.name}`}
    </span>
  );
}

interface DialogProps {
  event: RoomEvent;
  sources: readonly EventSource[];
  onReplay: (event: RoomEvent) => Promise<void>;
  onClose: () => void;
}

function EventDialog({ event, sources, onReplay, onClose }: DialogProps) {
  const again = useAction(() => onReplay(event));
  return (
    <Dialog title={`An event of ${sourceName(sources, event)}`} wide onClose={onClose}>
      <p>
        <Fate event={event} sources={sources} />, came <Time at={event.receivedAt} />. {event.reason}{" "}
        {event.conversationId !== null && (
          <a href={hrefOf(["conversations", event.conversationId])}>Read the conversation</a>
        )}
      </p>
      <Verdicts verdicts={event.verdicts} definitions={sources.flatMap(({ definitions }) => definitions)} />
      <Value title="What came" value={event.payload} />
      <Failure error={again.error} />
      <div class="actions">
        <Button onClick={onClose}>Close</Button>
        <Allowed to="agent.room:write">
          <Button busy={again.busy} onClick={() => void again.run()}>
            Handle it again
          </Button>
        </Allowed>
      </div>
    </Dialog>
  );
}
