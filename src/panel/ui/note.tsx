import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { isRefused, reasonOf } from "../data/api.ts";
import type { Say } from "../data/refusal-text.ts";
import { Cause } from "./text/cause.tsx";

interface Props {
  look?: "good" | "warn" | "bad";
  children: ComponentChildren;
}

/** A note in a box. Screen readers read errors at once. */
export const Note = ({ look, children }: Props) => (
  <div class={`note ${look ?? ""}`} role={look === "bad" ? "alert" : "status"}>
    {children}
  </div>
);

interface FailureProps {
  error: unknown;
  retry?: () => void;
  /** Names refused fields by their labels. */
  say?: Say | undefined;
}

/** Why something failed, with a retry button if that can help. Nothing when there is no error. */
export function Failure({ error, retry, say }: FailureProps) {
  const button = useRef<HTMLButtonElement>(null);
  const pressed = useRef(false);
  const failed = error !== undefined && error !== null;
  // A successful retry removes its button. Then the title of the page gets the focus, or the button of the next failure.
  useEffect(() => {
    if (!pressed.current || document.activeElement !== document.body) return;
    (button.current ?? document.querySelector<HTMLElement>("main h1[tabindex]"))?.focus({ preventScroll: true });
    if (!button.current) pressed.current = false;
  }, [failed, error]);
  if (!failed) return null;
  const again = () => {
    pressed.current = true;
    retry?.();
  };
  return (
    <Note look="bad">
      <p>
        <Cause text={reasonOf(error, say)} />
      </p>
      {retry && !isRefused(error, 403) && (
        <p>
          <button ref={button} type="button" class="button small" onClick={again}>
            Try again
          </button>
        </p>
      )}
    </Note>
  );
}
