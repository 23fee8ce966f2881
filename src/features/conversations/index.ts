/** What was said to agents and what they answered: to list, search, read, rename and delete. */

import type { Services } from "../../context.ts";
import type { Contribution } from "../../contribution.ts";
import type { Complete } from "../../core/ports.ts";
import { deleteConversationsOf } from "./delete-all.ts";
import { conversationJobs } from "./describe.ts";
import { conversationRoutes } from "./routes.ts";

/** What `enqueue` takes to have a conversation given its title and its summary. */
export { descriptionOf } from "./describe.ts";

/** `/api/conversations`, and titles and summaries in the background. */
export function conversationsFeature(needs: { services: Services; complete: Complete }): Contribution {
  return {
    routes: [conversationRoutes],
    jobs: conversationJobs(needs),
    beforeAgentDelete: deleteConversationsOf,
  };
}
