import type { Services } from "../../context/ctx.ts";
import type { Contribution } from "../../contribution.ts";
import type { Complete } from "../../jobs/complete.ts";
import { deleteConversationsOf } from "./delete-all.ts";
import { conversationJobs } from "./describe.ts";
import { eraseConversations } from "./erase/erase.ts";
import { indexMessages } from "./index-messages.ts";
import { retained } from "./retained.ts";
import { conversationRoutes } from "./routes.ts";
import { turnRoutes } from "./turns/routes.ts";

/** Deletes many rows of a deleted agent. */
export { deleteRowsOf } from "./delete-all.ts";
/** Writes titles and summaries, and defines the job that does so. */
export { createDescribe, descriptionJob } from "./describe.ts";
export { type DescriptionParts, firstWords, readDescription, titleRule } from "./description-prompt.ts";
/** Whether a person's own conversation is under legal hold. */
export { isHeld } from "./erase/erase.ts";
/** The reachable conversation with a public id. */
export { findConversation } from "./find.ts";
/** The words by which a message is found, and their column. */
export { searchColumn, searchWords } from "./index-messages.ts";
/** The results of background work on conversations, and their storing. */
export {
  createNote,
  extractedSeq,
  type Findings,
  type Note,
  summarizedMessages,
  withExtracted,
} from "./noted.ts";
export { wantedOf } from "./rules.ts";
/** The stored debug data of a turn. */
export type { PromptMessage, TurnDebug } from "./turns/schema.ts";

/** `/api/conversations`, the job that writes titles and summaries, and the upkeep that indexes messages. */
export function conversationsFeature(needs: { services: Services; complete: Complete }): Contribution {
  return {
    routes: [conversationRoutes, turnRoutes],
    jobs: conversationJobs(needs),
    ticks: { seldom: indexMessages(needs.services) },
    retained,
    beforeAgentDelete: deleteConversationsOf,
    erase: eraseConversations,
  };
}
