import type { EventDefinition, EventVerdict } from "../../../../../client/index.ts";

interface Props {
  verdicts: readonly EventVerdict[];
  definitions: readonly EventDefinition[];
}

/** What each definition that was asked said of an event. */
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
