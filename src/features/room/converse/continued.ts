import type { Services } from "../../../context/ctx.ts";
import { continuedElsewhere } from "../../inbox/index.ts";
import type { ContinuedBy } from "../../turns/index.ts";
import { placeOfConversation } from "./event.ts";

/** What an event's turn writes that continues after a person's decision: people were told that they get the answer. */
export function continuedReply({ database }: Pick<Services, "database">): ContinuedBy {
  return async ({ channel, agentId, ref }) => {
    if (channel !== "room") return {};
    const place = await placeOfConversation(database.db, { agentId, ref });
    return place ? { alongside: continuedElsewhere(place) } : {};
  };
}
