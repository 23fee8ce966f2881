import { type Signal, useSignal } from "@preact/signals";
import { useCallback, useEffect } from "preact/hooks";
import { noticeEnd } from "./session.ts";

export interface Loaded<T> {
  /** Undefined until the first answer; it stays while a newer answer is awaited. */
  value: Signal<T | undefined>;
  error: Signal<unknown>;
  reload(): void;
}

/** What `read` answers; read again when one of `inputs` changes. An answer that comes after a newer question is dropped. */
export function useLoaded<T>(read: (signal: AbortSignal) => Promise<T>, inputs: readonly unknown[]): Loaded<T> {
  const value = useSignal<T | undefined>(undefined);
  const error = useSignal<unknown>(undefined);
  const round = useSignal(0);
  const again = round.value;
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    read(signal).then(
      (answer) => {
        if (signal.aborted) return;
        value.value = answer;
        error.value = undefined;
      },
      (reason: unknown) => {
        if (signal.aborted) return;
        noticeEnd(reason);
        error.value = reason;
      },
    );
    return () => controller.abort();
  }, [...inputs, again]);
  const reload = useCallback(() => {
    round.value += 1;
  }, [round]);
  return { value, error, reload };
}
