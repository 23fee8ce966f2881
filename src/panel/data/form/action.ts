import { useSignal } from "@preact/signals";
import { noticeRefusal } from "../session.ts";

export interface Action<Arguments extends unknown[]> {
  /** Its work runs: it is not to be begun again. */
  busy: boolean;
  /** Why the last work failed; undefined when it went well. */
  error: unknown;
  /** Never rejects. */
  run(...given: Arguments): Promise<void>;
}

/** Something that somebody has done by a button or a form, once at a time. */
export function useAction<Arguments extends unknown[]>(
  work: (...given: Arguments) => Promise<void>,
): Action<Arguments> {
  const busy = useSignal(false);
  const error = useSignal<unknown>(undefined);
  const run = async (...given: Arguments) => {
    // A button is pressed twice before the page shows that it is busy.
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
