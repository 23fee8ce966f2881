/** What was said to agents and what they answered: to list, search, read, rename and delete. */

/** Deletes the conversations and turns of an agent, before the agent. */
export { deleteConversationsOf } from "./delete-all.ts";
/** Titles and summaries, as background work: what to enqueue, and who does it. */
export { conversationJobs, descriptionOf } from "./describe.ts";
/** `/api/conversations`. */
export { conversationRoutes } from "./routes.ts";
