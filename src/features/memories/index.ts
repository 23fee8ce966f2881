/** What agents know about end users: kept apart by subject, found by words, learned in the background. */

export type { Complete } from "../../core/ports.ts";
/** Looking for facts in a conversation, as background work: what to enqueue, and who does it. */
export { extractionOf } from "./extraction/extract.ts";
export { memoryJobs } from "./jobs.ts";
/** Having memories that lack them given vectors, at a start. */
export { enqueueMissing } from "./meaning/embed.ts";
/** What a turn should know before it answers, and how it reads in a prompt. */
export { memoryLines, recall, searchMemories } from "./recall.ts";
export type { Recalled } from "./recalled.ts";
/** `/memories`. */
export { memoryRoutes } from "./routes.ts";
/** Keeping a fact; nearly the same of the same subject is updated. */
export { type Fact, type Saved, saveMemory } from "./store.ts";
/** The tools `saveMemory` and `searchMemory` of an agent. */
export { memoryTools } from "./tools.ts";
