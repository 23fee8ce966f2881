import type { Services } from "../../context.ts";
import type { Contribution } from "../../contribution.ts";
import type { Complete } from "../../jobs/complete.ts";
import { deleteConversationsOf } from "./delete-all.ts";
import { conversationJobs } from "./describe.ts";
import { conversationRoutes } from "./routes.ts";
import { turnRoutes } from "./turns/routes.ts";

/** Deletes many rows of an agent in its deletion. */
export { deleteRows } from "./delete-all.ts";
/** Titles and summaries: what gives them to a conversation, and the job that does so, as `enqueue` takes it. */
export { createDescribe, descriptionOf } from "./describe.ts";
export { firstWords, readDescription, titleRule, type Wanted } from "./description-prompt.ts";
/** The conversation with a public id, within reach. */
export { findConversation } from "./find.ts";
/** What background work found out about conversations, and the statement that notes it. */
export { extractedSeq, type Note, type Noted, noteTogether, summarizedMessages, withExtracted } from "./noted.ts";
export { wantedOf } from "./rules.ts";
/** What a turn of a debugged agent keeps. */
export type { PromptMessage, TurnDebug } from "./turns/schema.ts";

/** `/api/conversations`, and the job that writes titles and summaries. */
export function conversationsFeature(needs: { services: Services; complete: Complete }): Contribution {
  return {
    routes: [conversationRoutes, turnRoutes],
    jobs: conversationJobs(needs),
    beforeAgentDelete: deleteConversationsOf,
  };
}
