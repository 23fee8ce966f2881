/** Agents' memories of end users: found by words and by meaning, and learned in the background. */

import { and, eq, sql } from "drizzle-orm";
import type { Services } from "../../context/ctx.ts";
import type { Contribution } from "../../contribution.ts";
import type { Embedder } from "../../core/ports.ts";
import { isBefore } from "../../db/fragments.ts";
import { isNotHeld } from "../../db/held.ts";
import { memories } from "../../db/schema.ts";
import type { JobKinds } from "../../jobs/attempt.ts";
import type { Complete } from "../../jobs/complete.ts";
import { type ErasedPerson, isSubject } from "../../jobs/erased-rows.ts";
import type { RetainedRows } from "../../jobs/retained-rows.ts";
import { extractionJobs } from "./extraction/extract.ts";
import { lateSubjectJobs } from "./late-subjects.ts";
import { embeddingJobs, enqueueMissing } from "./meaning/embed.ts";
import { memoryRoutes } from "./routes.ts";

/** Learns from a conversation, and defines the job that does so. */
export { createLearn, extractionJob } from "./extraction/extract.ts";
/** The memories that a turn gets before it answers, their text in a prompt, and whether there are any. */
export { isRemembered, memoryLines, recall, searchMemories } from "./recall.ts";

/** Stores a fact, or updates a memory of the same subject with nearly the same meaning. */
export { saveMemory } from "./store.ts";
/** The tools `saveMemory` and `searchMemory` of an agent. */
export { memoryTools } from "./tools.ts";

interface Dependencies {
  services: Services;
  complete: Complete;
  embedderOf(slug: string): Promise<Embedder | null>;
}

/** `/memories`, and learning in the background. At a start, memories without vectors get vectors. */
export function memoriesFeature(needs: Dependencies): Contribution {
  return {
    routes: [memoryRoutes],
    jobs: memoryJobs(needs),
    retained: [retainedMemories],
    erase: eraseMemories,
    boot: () => enqueueMissing(needs.services),
  };
}

/** Memories age from their last change. */
export const retainedMemories: RetainedRows = {
  subject: "memories",
  table: memories,
  along: memories.updatedAt,
  isOld: ({ before }) =>
    sql`${isBefore(memories.updatedAt, before)} and ${isNotHeld("id", memories.sourceConversationId)}`,
};

/** Deletes the memories about the person. Those of the person's conversations are deleted with the conversations. */
async function eraseMemories({ database: { db } }: Services, person: ErasedPerson): Promise<void> {
  for (const agent of person.agents) {
    const isTheirs = and(eq(memories.agentId, agent.id), isSubject(memories.subject, person, agent));
    await db.delete(memories).where(and(isTheirs, isNotHeld("id", memories.sourceConversationId)));
  }
}

/** The background work of memories. */
export function memoryJobs(needs: Dependencies): JobKinds {
  return { ...extractionJobs(needs), ...embeddingJobs(needs), ...lateSubjectJobs(needs) };
}
