import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { CallOptions } from "../../client/index.ts";
import { isRefused } from "./api.ts";
import { noticeEnd } from "./session.ts";

/**
 * `connecting` before the first answer; `lost` while a connection that broke, or found no place, is tried again; `ended`
 * once the server says that there is nothing to follow.
 */
export type LiveState = "connecting" | "live" | "lost" | "ended";

type Open<Event> = (lastEventId: string | null, options: CallOptions) => AsyncGenerator<Event, void, undefined>;

const firstPauseMs = 1_000;
const longestPauseMs = 15_000;

/** Follows a stream for as long as the page is there; a connection that breaks is opened again behind the last event. */
export function useLive<Event extends { id: string }>(
  open: Open<Event>,
  onEvent: (event: Event) => void,
  inputs: readonly unknown[],
): Signal<LiveState> {
  const state = useSignal<LiveState>("connecting");
  const current = useRef({ open, onEvent });
  current.current = { open, onEvent };
  useEffect(() => {
    const left = new AbortController();
    state.value = "connecting";
    void follow({ current, signal: left.signal, tell: (next) => (state.value = next) });
    return () => left.abort();
  }, inputs);
  return state;
}

interface Following<Event> {
  current: { current: { open: Open<Event>; onEvent: (event: Event) => void } };
  signal: AbortSignal;
  tell: (state: LiveState) => void;
}

async function follow<Event extends { id: string }>({ current, signal, tell }: Following<Event>): Promise<void> {
  let lastEventId: string | null = null;
  let pauseMs = firstPauseMs;
  while (!signal.aborted) {
    try {
      const onOpen = () => {
        pauseMs = firstPauseMs;
        tell("live");
      };
      for await (const event of current.current.open(lastEventId, { signal, onOpen })) {
        if (event.id !== "") lastEventId = event.id;
        current.current.onEvent(event);
      }
    } catch (error) {
      if (signal.aborted) return;
      noticeEnd(error);
      if (isRefused(error, 403) || isRefused(error, 404)) return tell("ended");
    }
    tell("lost");
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    pauseMs = Math.min(pauseMs * 2, longestPauseMs);
  }
}
