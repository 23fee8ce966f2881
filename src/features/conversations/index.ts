/** What was said to agents and what they answered: to list, search, read, rename and delete. */

/** Titles and summaries, as background work: what to enqueue, and who does it. */
export { conversationJobs, descriptionOf } from "./describe.ts";
/** `/api/conversations`. */
export { conversationRoutes } from "./routes.ts";
