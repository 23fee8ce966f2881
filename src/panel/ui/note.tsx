import type { ComponentChildren } from "preact";
import { isRefused, reasonOf } from "../data/api.ts";

interface Props {
  look?: "good" | "warn" | "bad";
  children: ComponentChildren;
}

/** Something to know, in a box. What is bad is read out at once. */
export const Note = ({ look, children }: Props) => (
  <div class={`note ${look ?? ""}`} role={look === "bad" ? "alert" : "status"}>
    {children}
  </div>
);

/** Why something failed, and a way to try once more where that can help. Nothing without an error. */
export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  if (error === undefined || error === null) return null;
  return (
    <Note look="bad">
      <p>{reasonOf(error)}</p>
      {retry && !isRefused(error, 403) && (
        <p>
          <button type="button" class="button small" onClick={retry}>
            Try again
          </button>
        </p>
      )}
    </Note>
  );
}
