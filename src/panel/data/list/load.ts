import { type Signal, useSignal } from "@preact/signals";
import { useCallback, useEffect, useRef } from "preact/hooks";
import { noticeEnd } from "../session.ts";

export interface LoadedValue<T> {
  /** Undefined until the first response. The last value stays while a newer one is awaited. */
  value: Signal<T | undefined>;
  error: Signal<unknown>;
  /** Reads again; resolves when the response is there or the page was closed. */
  reload(): Promise<void>;
}

/** Reads several values again, for a page that shows their failures in one place. */
export function reloadAll(...all: readonly Pick<LoadedValue<unknown>, "reload">[]): void {
  for (const { reload } of all) void reload();
}

/**
 * The result of `read`. When one of `inputs` changes, `read` is called again; a response to former inputs is dropped.
 */
export function useLoaded<T>(read: (signal: AbortSignal) => Promise<T>, inputs: readonly unknown[]): LoadedValue<T> {
  const value = useSignal<T | undefined>(undefined);
  const error = useSignal<unknown>(undefined);
  const round = useSignal(0);
  const waiting = useRef<(() => void)[]>([]);
  const gone = useRef(false);
  const again = round.value;
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const asked = waiting.current.splice(0);
    const settle = () => {
      for (const resolve of asked.splice(0)) resolve();
    };
    read(signal).then(
      (answer) => {
        if (signal.aborted) return;
        value.value = answer;
        error.value = undefined;
        settle();
      },
      (reason: unknown) => {
        if (signal.aborted) return;
        noticeEnd(reason);
        error.value = reason;
        settle();
      },
    );
    return () => {
      controller.abort();
      waiting.current.push(...asked.splice(0));
    };
  }, [...inputs, again]);
  useEffect(
    () => () => {
      gone.current = true;
      for (const resolve of waiting.current.splice(0)) resolve();
    },
    [],
  );
  const reload = useCallback(
    () =>
      new Promise<void>((resolve) => {
        if (gone.current) return resolve();
        waiting.current.push(resolve);
        round.value += 1;
      }),
    [round],
  );
  return { value, error, reload };
}

/** Reads again while the page is visible, `everyMs` milliseconds after each response. Undefined: never. */
export function useRefresh(reload: () => Promise<void>, everyMs: number | undefined): void {
  useEffect(() => {
    if (everyMs === undefined) return;
    let reading = false;
    const timer = setInterval(async () => {
      if (reading || document.visibilityState !== "visible") return;
      reading = true;
      await reload();
      reading = false;
    }, everyMs);
    return () => clearInterval(timer);
  }, [reload, everyMs]);
}
