import type { ComponentChildren } from "preact";
import type { LoadedValue } from "../../data/list/load.ts";
import { Failure } from "../note.tsx";
import { Waiting } from "../waiting.tsx";

interface Props<T> {
  of: LoadedValue<T>;
  /** Lines of the placeholder. */
  lines?: number | undefined;
  children: (value: T) => ComponentChildren;
}

/** Shows a value when it is read; until then a placeholder, or why reading failed. */
export function WhenLoaded<T>({ of: { value, error, reload }, lines, children }: Props<T>) {
  const read = value.value;
  return (
    <>
      <Failure error={error.value} retry={reload} />
      {read === undefined && error.value === undefined && <Waiting lines={lines} />}
      {read !== undefined && children(read)}
    </>
  );
}

/** Shown for an empty list: the reason, and the next step. */
export const Empty = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <div class="empty">
    <h2>{title}</h2>
    {children}
  </div>
);
