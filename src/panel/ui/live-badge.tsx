import type { LiveState } from "../data/activity-stream.ts";

const looks = { connecting: "", live: "good", lost: "warn", ended: "" } as const;
const words = {
  connecting: "connecting…",
  live: "live",
  lost: "connection lost, trying again…",
  ended: "not followed",
} as const;

/** Shows whether the page gets live events. */
export const LiveBadge = ({ state }: { state: LiveState }) => (
  <span class={`badge ${looks[state]}`} role="status">
    {words[state]}
  </span>
);
