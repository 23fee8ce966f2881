import type { JobKinds } from "../../jobs/attempt.ts";
import { extractionJobs } from "./extraction/extract.ts";
import { lateSubjectJobs } from "./late-subjects.ts";
import { embeddingJobs } from "./meaning/embed.ts";

type Dependencies = Parameters<typeof embeddingJobs>[0] & Parameters<typeof extractionJobs>[0];

/** The background work of memories. */
export function memoryJobs(needs: Dependencies): JobKinds {
  return { ...extractionJobs(needs), ...embeddingJobs(needs), ...lateSubjectJobs(needs) };
}
