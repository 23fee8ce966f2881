import type { Instance } from "../../../client/index.ts";

/** Whether an agent answers, and the channels on which it can't. */
export const State = ({ agent: { active, webEnabled, failingChannels } }: { agent: Instance }) => (
  <>
    <span class={`badge ${active ? (webEnabled ? "good" : "warn") : ""}`}>
      {active ? (webEnabled ? "answers" : "Web off") : "inactive"}
    </span>
    {failingChannels.map(({ channelType }) => (
      <span key={channelType} class="badge bad">
        {channelType} fails
      </span>
    ))}
  </>
);
