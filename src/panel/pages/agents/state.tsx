import type { Instance } from "../../../client/index.ts";

/** Whether an agent answers. */
export const State = ({ agent: { active, webEnabled } }: { agent: Instance }) => (
  <span class={`badge ${active ? (webEnabled ? "good" : "warn") : ""}`}>
    {active ? (webEnabled ? "answers" : "Web off") : "inactive"}
  </span>
);
