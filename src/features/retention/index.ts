import type { Services } from "../../context/ctx.ts";
import type { Contribution } from "../../contribution.ts";
import type { RetainedRows } from "../../jobs/retained-rows.ts";
import { duePolicies, purgeJobs } from "./purge.ts";
import { retentionRoutes } from "./routes.ts";

interface Dependencies {
  services: Services;
  /** The rows of all features that policies delete. */
  retained: () => readonly RetainedRows[];
}

/** `/api/organizations/{orgSlug}/retention`, and the daily deletion by the policies. */
export function retentionFeature({ services, retained }: Dependencies): Contribution {
  return {
    routes: [retentionRoutes(retained)],
    jobs: purgeJobs(services, retained),
    // While the feature is off, retention pauses.
    ...(services.options.edition.has("administration") ? { due: duePolicies } : {}),
  };
}
