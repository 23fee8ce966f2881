import type { EventVerdict } from "../../../../../client/index.ts";

/** What each definition that was asked said of an event. */
export function Verdicts({ verdicts }: { verdicts: readonly EventVerdict[] }) {
  if (verdicts.length === 0) return null;
  return (
    <ol class="plain-list">
      {verdicts.map(({ definitionId, matched, answer, condition, warning }) => (
        <li key={definitionId}>
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
