import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { ActivityStream, type LiveState, type StreamedActivity } from "./activity-stream.ts";
import { serverUrl } from "./api.ts";
import { orgSlug, user } from "./session.ts";

/** This tab's streams, by name. */
const streams = new Map<string, ActivityStream>();

/** Follows the organization's activity while the page is open. Older events may come again. */
export function useLive(onEvent: (event: StreamedActivity) => void): Signal<LiveState> {
  const state = useSignal<LiveState>("connecting");
  const current = useRef(onEvent);
  current.current = onEvent;
  const name = `agent-engine.activity ${serverUrl} ${user.value?.id} ${orgSlug.value}`;
  useEffect(() => {
    const stream = streams.get(name) ?? new ActivityStream(name);
    streams.set(name, stream);
    const leave = stream.listen({
      onEvent: (event) => current.current(event),
      onState: (next) => {
        state.value = next;
      },
    });
    return () => {
      leave();
      if (!stream.isUnused) return;
      streams.delete(name);
      stream.close();
    };
  }, [name, state]);
  return state;
}
