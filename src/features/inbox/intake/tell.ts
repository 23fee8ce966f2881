import type { Services } from "../../../context/ctx.ts";
import { scrubbedPreview } from "../../../core/activity/preview.ts";
import type { Incoming } from "../../../core/channels/messengers.ts";
import { actingAs, type Turns } from "../../turns/index.ts";

/** Messages stored in a conversation, whose public id is `ref`. */
interface ArrivedMessages {
  slug: string;
  ref: string;
  channel: string;
  said: readonly Incoming[];
}

/** Reports messages to the activity bus. */
export type TellArrived = (arrived: ArrivedMessages) => void;

/** Runs after the request. Loads the agent for its secrets, which people may know and write. */
export function createTellArrived({ activity, log }: Services, { agents }: Pick<Turns, "agents">): TellArrived {
  const tell = ({ slug, ref, channel, said }: ArrivedMessages) =>
    agents.serve(slug, async (agent) => {
      for (const { text, files, quotes } of agent ? said : []) {
        if (!agent) return;
        const words =
          scrubbedPreview(text || (quotes[0]?.text ?? ""), agent.scrub) ||
          `${files.length} ${files.length === 1 ? "file" : "files"}`;
        activity.emit({ kind: "inbound", text: words, agent: actingAs(agent), conversationId: ref, channel });
      }
    });
  return (arrived) => {
    tell(arrived).catch((err: unknown) =>
      log.debug({ agent: arrived.slug, err }, "Watchers were not told of messages"),
    );
  };
}
