import { type Check, fail, ok } from "../../../core/check.ts";
import type { JobsReport } from "../../../jobs/failed.ts";

/** Checks for background work that failed for good in the last 24 hours: it is likely to fail again. */
export function checkJobs({ pending, failed, failedLately, newest }: JobsReport): Check {
  const name = "background work";
  const [last] = newest;
  if (failedLately === 0 || !last) {
    const earlier = failed === 0 ? "Nothing failed" : `Nothing failed in the last 24 hours, ${failed} before`;
    return ok(name, `${earlier}; ${pending} ${pending === 1 ? "job waits" : "jobs wait"}`);
  }
  const count = `${failedLately} ${failedLately === 1 ? "job" : "jobs"} failed for good in the last 24 hours`;
  const { kind, attempts, failedAt, error } = last;
  const example = `${kind} at ${failedAt}, tried ${attempts} times: ${error.replaceAll(/\s+/g, " ")}`;
  return fail(
    name,
    `${count}, the last one ${example}. Mend the cause; the log has a line "A job failed for good" for each`,
  );
}
