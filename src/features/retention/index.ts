import type { Services } from "../../context/ctx.ts";
import type { Contribution } from "../../contribution.ts";
import type { Erase } from "../../jobs/erased-rows.ts";
import type { RetainedRows } from "../../jobs/retained-rows.ts";
import { erasureJobs } from "./erasures/job.ts";
import { erasureRoutes } from "./erasures/routes.ts";
import { duePolicies, purgeJobs } from "./purge.ts";
import { retentionRoutes } from "./routes.ts";

interface Dependencies {
  services: Services;
  /** The rows of all features that policies delete. */
  retained: () => readonly RetainedRows[];
  /** The functions of all features that erase a person. */
  erasers: () => readonly Erase[];
}

/**
 * `/api/organizations/{orgSlug}/retention` with the daily deletion by the policies, and `…/erasures` with the job that
 * erases a person.
 */
export function retentionFeature({ services, retained, erasers }: Dependencies): Contribution {
  return {
    routes: [retentionRoutes(retained), erasureRoutes],
    jobs: { ...purgeJobs(services, retained), ...erasureJobs(services, erasers) },
    // While the feature is off, retention pauses.
    ...(services.options.edition.has("administration") ? { due: duePolicies } : {}),
  };
}
