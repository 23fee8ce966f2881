import { useSignal } from "@preact/signals";
import type { EventSource, RoomEvent } from "../../../../../client/index.ts";
import { api } from "../../../../data/api.ts";
import { useAction } from "../../../../data/form/action.ts";
import { useList } from "../../../../data/list/list.ts";
import { useLoaded } from "../../../../data/list/load.ts";
import { hrefOf } from "../../../../data/route.ts";
import { Value } from "../../../../transcript/tool-view.tsx";
import { Allowed } from "../../../../ui/allowed.tsx";
import { Button } from "../../../../ui/button.tsx";
import { Dialog } from "../../../../ui/dialog/dialog.tsx";
import { choicesOf } from "../../../../ui/form/choices.ts";
import { SignalChoice } from "../../../../ui/form/field.tsx";
import type { DialogProps } from "../../../../ui/form/form.tsx";
import { List } from "../../../../ui/list/list.tsx";
import { Failure } from "../../../../ui/note.tsx";
import { Time } from "../../../../ui/text/time.tsx";
import { tell } from "../../../../ui/toast.tsx";
import { type Outcome, outcomeLooks, outcomeWords, Verdicts } from "./verdicts.tsx";

/** The ledger: every event with its outcome. */
export function Events({ slug }: { slug: string }) {
  const outcome = useSignal<Outcome | "">("");
  const events = useList(
    "events",
    (part) => api.listRoomEvents({ slug, ...part, ...(outcome.value && { outcome: outcome.value }) }),
    [slug, outcome.value],
    { everyMs: 5_000 },
  );
  const sources = useLoaded(() => api.listEventSources({ slug }), [slug]).value.value ?? [];
  return (
    <>
      <div class="columns">
        <SignalChoice
          label="Outcome"
          of={outcome}
          choices={[{ value: "", label: "All" }, ...choicesOf(outcomeWords)]}
        />
      </div>
      <List
        of={events}
        empty={[
          outcome.value === "" ? "No event has come yet" : "Nothing was found",
          "Each source has an address. What is posted there is listed here, whatever becomes of it.",
        ]}
        dialog={(event, props) => event && <EventDialog {...{ slug, event, sources, ...props }} />}
        label="Events"
        keyOf={({ id }) => id}
        about={({ reason }) => reason}
        columns={[
          { title: "Event", cell: ({ payload }) => <code>{JSON.stringify(payload)?.slice(0, 80)}</code> },
          { title: "Source", cell: (event) => sourceName(sources, event) },
          { title: "What became of it", cell: (event) => <Fate event={event} sources={sources} /> },
          { title: "Came", end: true, cell: ({ receivedAt }) => <Time at={receivedAt} /> },
        ]}
        actions={(event, open) => (
          <Button small look="plain" onClick={() => open(event)}>
            Open
          </Button>
        )}
      />
    </>
  );
}

/** The source's current name. */
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

interface EventProps extends DialogProps {
  slug: string;
  event: RoomEvent;
  sources: readonly EventSource[];
}

function EventDialog({ slug, event, sources, onSaved, onClose }: EventProps) {
  const again = useAction(async () => {
    await api.replayRoomEvent({ slug, id: event.id });
    onClose();
    tell("It is handled again");
    await onSaved();
  });
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
