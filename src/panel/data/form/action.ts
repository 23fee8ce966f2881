import { useSignal } from "@preact/signals";
import { noticeRefusal } from "../session.ts";

export interface Action<Arguments extends unknown[]> {
  /** Whether the work runs; it must not be started a second time then. */
  busy: boolean;
  /** Why the last work failed; undefined after a success. */
  error: unknown;
  /** Runs the work; never rejects. */
  run(...given: Arguments): Promise<void>;
}

/** Work that a button or a form starts. It runs once at a time. */
export function useAction<Arguments extends unknown[]>(
  work: (...given: Arguments) => Promise<void>,
): Action<Arguments> {
  const busy = useSignal(false);
  const error = useSignal<unknown>(undefined);
  const run = async (...given: Arguments) => {
    // A person may press a button twice before the page shows that it is busy.
    if (busy.value) return;
    busy.value = true;
    try {
      await work(...given);
      error.value = undefined;
    } catch (reason) {
      noticeRefusal(reason);
      error.value = reason;
    } finally {
      busy.value = false;
    }
  };
  return { busy: busy.value, error: error.value, run };
}
