import { signal } from "@preact/signals";
import { reasonOf } from "../data/api.ts";
import { noticeRefusal } from "../data/session.ts";

interface Toast {
  id: number;
  text: string;
  look: "plain" | "bad";
  /** Undoes the action. */
  undo?: (() => void) | undefined;
}

const toasts = signal<readonly Toast[]>([]);
const shownMs = 6_000;
let count = 0;

const remove = (id: number) => {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
};

function show(toast: Omit<Toast, "id">): void {
  count += 1;
  const id = count;
  toasts.value = [...toasts.value.slice(-2), { ...toast, id }];
  setTimeout(() => remove(id), shownMs);
}

/** Shows a short message about an action. */
export const tell = (text: string, undo?: () => void) => show({ text, look: "plain", undo });

/** Shows a failure that is not shown elsewhere on the page. */
export function tellFailure(error: unknown): void {
  noticeRefusal(error);
  show({ text: reasonOf(error), look: "bad" });
}

export const Toasts = () => (
  <div class="toasts" role="status" aria-live="polite">
    {toasts.value.map(({ id, text, look, undo }) => (
      <div key={id} class={`toast ${look}`}>
        <span>{text}</span>
        {undo && (
          <button
            type="button"
            onClick={() => {
              remove(id);
              undo();
            }}
          >
            Undo
          </button>
        )}
      </div>
    ))}
  </div>
);
