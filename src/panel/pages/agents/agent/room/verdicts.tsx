import type { EventDefinition, EventVerdict, RoomEvent } from "../../../../../client/index.ts";

export type Outcome = RoomEvent["outcome"];

/** The outcomes of events in words. */
export const outcomeWords: Readonly<Record<Outcome, string>> = {
  pending: "waits to be looked at",
  conversation: "begins a conversation",
  backlog: "goes into the backlog",
  "no-match": "no definition is about it",
  "backlog-full": "the backlog is full",
  "room-off": "the Room is off, or the agent is inactive",
  "source-disabled": "the source is off",
  "invalid-payload": "it could not be read",
  "matcher-failed": "the model that matches could not be asked",
};

export const outcomeLooks: Readonly<Record<Outcome, "good" | "warn" | "bad" | "">> = {
  pending: "warn",
  conversation: "good",
  backlog: "good",
  "no-match": "",
  "room-off": "",
  "source-disabled": "",
  "backlog-full": "bad",
  "invalid-payload": "bad",
  "matcher-failed": "bad",
};

interface Props {
  verdicts: readonly EventVerdict[];
  definitions: readonly EventDefinition[];
}

/** The verdicts of the definitions that were tried on an event. */
export function Verdicts({ verdicts, definitions }: Props) {
  if (verdicts.length === 0) return null;
  return (
    <ol class="plain-list">
      {verdicts.map(({ definitionId, matched, answer, condition, warning }) => (
        <li key={definitionId}>
          {definitions.find(({ id }) => id === definitionId)?.name ?? "A deleted definition"}:{" "}
          <span class={matched ? "badge good" : "badge"}>{matched ? "matches" : "does not match"}</span>{" "}
          {condition ? (
            <>
              <code>{condition.path}</code> is not {JSON.stringify(condition.equals)}
            </>
          ) : (
            answer
          )}
          {warning !== undefined && <span class="wrong"> {warning}</span>}
        </li>
      ))}
    </ol>
  );
}
