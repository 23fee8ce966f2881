/** What agents know about end users: kept apart by subject, found by words, learned in the background. */

import type { Services } from "../../context.ts";
import type { Contribution } from "../../contribution.ts";
import type { Complete, Embedder } from "../../core/ports.ts";
import { memoryJobs } from "./jobs.ts";
import { enqueueMissing } from "./meaning/embed.ts";
import { memoryRoutes } from "./routes.ts";

export type { Complete } from "../../core/ports.ts";
/** Looking for facts in a conversation, as background work: what to enqueue, and who does it. */
export { extractionOf } from "./extraction/extract.ts";
/** What a turn should know before it answers, and how it reads in a prompt. */
export { memoryLines, recall, searchMemories } from "./recall.ts";
export type { Recalled } from "./recalled.ts";
/** Keeping a fact; nearly the same of the same subject is updated. */
export { type Fact, type Saved, saveMemory } from "./store.ts";
/** The tools `saveMemory` and `searchMemory` of an agent. */
export { memoryTools } from "./tools.ts";

interface Needs {
  services: Services;
  complete: Complete;
  embedderOf(slug: string): Promise<Embedder | null>;
}

/** `/memories`, and learning in the background; at a start, memories without vectors are given some. */
export function memoriesFeature(needs: Needs): Contribution {
  return { routes: [memoryRoutes], jobs: memoryJobs(needs), boot: () => enqueueMissing(needs.services) };
}
